"""HTML as a flat sequence of texts and tags, in linear time for any input.

Reads tags as browsers do, with two exceptions in favour of what people lose: a quote that is never closed does not
swallow the rest, and neither does an element whose content is dropped but whose end is missing.
"""

import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import NamedTuple

MAX_ATTRIBUTES = 64  # of one tag; parsers compare each with all before it

_TAG = re.compile(
    r"""
    <(?:
      !---?>                                                    # an empty comment
    | !--.*?(?:--!?>|\Z)
    | />
    | (?:[!?]|/[^a-zA-Z])[^>]*>                                 # what browsers take for a comment
    | (/?)([a-zA-Z][^\s/>]*+)                                   # end mark, name
      ((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = re.compile("<[a-zA-Z/!?]")  # any other "<" is text
_ATTRIBUTE = re.compile(r"""([^\s/>="'][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|["']?([^\s>"']*+)))?+""")

# Elements that are no part of a text. The code of the first ones is not shown even when their end is missing.
_CODE = frozenset({"script", "style"})
_DROPPED = _CODE | {
    "button", "datalist", "iframe", "noembed", "noframes", "select", "svg", "template", "textarea", "title",
    "xmp",
}  # fmt: skip
_TEXT = re.compile(r"<(a|code|kbd|math|pre|samp)\b[^<>]*+>.*?</\1>|<[^<>]*+>|([^<]++)", re.DOTALL)
_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _DROPPED}


class Tag(NamedTuple):
    name: str  # in lower case
    is_end: bool
    attribute_text: str


def tokens(html: str) -> Iterator[str | Tag]:
    """The texts of a document, entities not yet decoded, and its tags; without comments, code, drawings and controls.

    >>> list(tokens("<P id=a>1<!-- no --> < 2"))
    [Tag(name='p', is_end=False, attribute_text=' id=a'), '1', ' < 2']
    """
    endless: set[str] = set()  # names without an end tag: searching again would take quadratic time
    position = 0
    while opening := _OPENING.search(html, position):
        if opening.start() > position:
            yield html[position : opening.start()]
        match = _TAG.match(html, opening.start())
        if match is None:
            return  # cut in the middle of a tag
        position = match.end()
        end, name, attribute_text = match.groups()
        if name is None:
            continue
        name = name.lower()
        yield Tag(name, end == "/", attribute_text)
        if name in _DROPPED and not end and not attribute_text.endswith("/"):
            position = _end_of(name, html, position, endless)
    if position < len(html):
        yield html[position:]


def attributes(tag: Tag) -> dict[str, str]:
    """A tag's attributes, names in lower case, values decoded; the first of a name counts, 64 at most.

    >>> attributes(Tag("a", False, ' HREF="?a=1&amp;b" download href=x'))
    {'href': '?a=1&b', 'download': ''}
    """
    found: dict[str, str] = {}
    for number, match in enumerate(_ATTRIBUTE.finditer(tag.attribute_text)):
        if number == MAX_ATTRIBUTES:
            break
        name, double_quoted, single_quoted, bare = match.groups(default="")
        value = double_quoted or single_quoted or bare
        found.setdefault(name.lower(), unescape(value) if "&" in value else value)
    return found


def _end_of(name: str, html: str, position: int, endless: set[str]) -> int:
    """Where the content of a dropped element ends; nested elements of one name are not counted."""
    if name not in endless:
        end = _END[name].search(html, position)
        closing = html.find(">", end.end()) if end else -1
        if closing >= 0:
            return closing + 1
        endless.add(name)
    return len(html) if name in _CODE else position


def with_replaced(html: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> str:
    """Sanitized markup with matches in its plain texts replaced by markup; links, code and formulas stay.

    >>> with_replaced("<p>x &lt; y <code>x</code>", re.compile("x"), lambda match: "<b>x</b>")
    '<p><b>x</b> &lt; y <code>x</code>'
    """

    def changed(found: re.Match[str]) -> str:
        if not found[2]:
            return found[0]
        text = unescape(found[2])
        pieces: list[str] = []
        position = 0
        for match in pattern.finditer(text):
            pieces += [escape(text[position : match.start()], quote=False), replace(match)]
            position = match.end()
        return "".join([*pieces, escape(text[position:], quote=False)])

    return _TEXT.sub(changed, html)
