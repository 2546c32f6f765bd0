"""Publishers' markup made safe to show inside our pages, and its plain text.

Three steps: our own tokenizer (`tokens`) keeps the elements of articles, makes addresses absolute and drops trackers;
nh3, a browser's parser with an allow-list, builds the tree and guarantees safety; in its output TeX becomes MathML,
plain addresses become links and code gets its colours; that is read once more for the text. Everything takes bounded
time:

- an article longer than 1,000,000 characters, or of more than 20,000 tags, ends there;
- a picture inside its own address (`data:`) is dropped above 32,000 characters;
- an article that the parser makes larger than that, nests deeper than 100 elements or reads differently each time
  keeps its text alone.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from itertools import pairwise
from typing import NamedTuple

import nh3

from apps.postings.algorithms import formulas
from apps.postings.algorithms.highlighting import CLASSES, highlighted, language_in
from apps.postings.algorithms.links import with_links
from apps.postings.algorithms.plain import BLOCKS, LINES, read
from apps.postings.algorithms.players import player_of
from apps.postings.algorithms.tokens import Tag, attributes, tokens
from apps.postings.algorithms.trackers import is_tracker, is_unseen, without_tracking
from apps.sources.algorithms.addresses import absolute, host
from apps.sources.formats.text import paragraphs

MAX_MARKUP_LENGTH = 1_000_000  # characters
MAX_ADDRESS = 2_000
MAX_DATA = 32_000
MAX_LABEL = 1_000  # alternative texts and titles
MAX_TEXT = MAX_MARKUP_LENGTH // 5 - 10  # an "&" takes five characters in HTML
MAX_TAGS = 20_000  # start and end tags together; the parser's time grows with the square of their depth
MAX_READINGS = 3
MAX_PICTURES_IN_SET = 20
MAX_DEPTH = 100

Rule = Callable[[str], str | None]  # an attribute's value as given to the value kept, None to drop it


class CleanMarkup(NamedTuple):
    html: str
    text: str  # paragraphs stand apart by an empty line, items of lists begin with "- "
    image_url: str  # the first picture large enough to stand for the article, or ""
    prose: str  # the text without figures and captions, of which excerpts are taken


def clean(html: str, *, base_url: str = "") -> CleanMarkup:
    """Make an article safe to show, and read its text. Never raises; what is clean stays as it is.

    Parameters
    ----------
    html : str
        Anything. Of it stay the elements of articles with the attributes that these need.
    base_url : str
        The address that links and pictures are relative to; without it relative ones are dropped.

    Examples
    --------
    >>> article = clean('<p onclick="x()">One <a href="/2?fbclid=x">two</a><script>3</script>', base_url="https://a.org/")
    >>> article.html
    '<p>One <a href="https://a.org/2" rel="noopener noreferrer nofollow">two</a></p>'
    >>> article.text
    'One two'
    """
    plain = _parsed(_rewritten(_readable(html), base_url))
    for safe in dict.fromkeys((_completed(plain), plain)):
        for _ in range(MAX_READINGS):
            reading = read(safe)
            if len(safe) > MAX_MARKUP_LENGTH or safe.count("<") > MAX_TAGS or reading.depth > MAX_DEPTH:
                break
            again = _parsed(safe)
            if again == safe:
                return CleanMarkup(safe, reading.text, reading.image_url, reading.prose)
            safe = again
    text = reading.text[:MAX_TEXT]
    return CleanMarkup(paragraphs(text), text, reading.image_url, reading.prose[:MAX_TEXT])


def _completed(safe: str) -> str:
    """With formulas, links and colours that its author wrote as plain text."""
    typeset = formulas.with_formulas(safe)
    if typeset != safe:
        safe = _parsed(_rewritten(typeset, ""))
    return highlighted(with_links(safe, lambda address: _link_start(address) if _link(address, "") else ""))


# --- elements and attributes of articles

_BOXES = frozenset({
    "address", "article", "aside", "center", "dialog", "fieldset", "footer", "form", "header", "hgroup", "main", "nav",
    "search", "section",
})  # fmt: skip
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark", "picture",
    "q", "rp", "rt", "ruby", "s", "samp", "small", "source", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
})  # fmt: skip
_TABLE_PARTS = frozenset({"col", "colgroup", "tbody", "td", "tfoot", "th", "thead"})
_ELEMENTS = BLOCKS | LINES | _INLINE | _TABLE_PARTS
_UNSEEN_COPY = re.compile(r"\bkatex-html\b")  # of a formula, for readers without MathML


def _matching(pattern: str) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda value: value if compiled.fullmatch(value) else None


def _label(value: str) -> str | None:
    return value[:MAX_LABEL] or None


def _class_of_code(value: str) -> str | None:
    return f"language-{language}" if (language := language_in(value)) else None


def _present(value: str) -> str:
    return ""


_number = _matching(r"\d{1,5}")
_language = _matching(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")
_EVERYWHERE: Mapping[str, Rule] = {"dir": _matching("ltr|rtl|auto"), "lang": _language}
_OWN_ATTRIBUTES: Mapping[str, Mapping[str, Rule]] = {
    "a": {"title": _label},
    "abbr": {"title": _label},
    "code": {"class": _class_of_code},
    "col": {"span": _number},
    "colgroup": {"span": _number},
    "del": {"datetime": _label},
    "details": {"open": _present},
    "img": {"alt": _label, "height": _number, "sizes": _label, "title": _label, "width": _number},
    "ins": {"datetime": _label},
    "li": {"value": _number},
    "ol": {"reversed": _present, "start": _number, "type": _matching("[1ai]")},
    "pre": {"class": _class_of_code},
    "source": {"media": _label, "sizes": _label, "type": _matching(r"(?:image|audio|video)/[\w.+-]+")},
    "td": {"colspan": _number, "rowspan": _number},
    "th": {"colspan": _number, "rowspan": _number, "scope": _matching("row|col|rowgroup|colgroup")},
    "time": {"datetime": _label},
    "video": {"height": _number, "width": _number},
}
_FORMULA_ATTRIBUTES = {
    "alttext": _label,
    **dict.fromkeys(formulas.ATTRIBUTES, _matching(r"[\w%. /+-]{0,100}|[\W_]{1,5}")),
}
_ATTRIBUTES: Mapping[str, Mapping[str, Rule]] = {
    **{name: {**_EVERYWHERE, **own} for name, own in _OWN_ATTRIBUTES.items()},
    **dict.fromkeys(formulas.ELEMENTS, _FORMULA_ATTRIBUTES),
}
_ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "a": ("href",),
    "audio": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("poster", "src"),
}


# Written by ourselves, since nh3 would add them in another order in every process.
_MEDIA = {"controls": "", "preload": "none"}
_ALWAYS: Mapping[str, Mapping[str, str]] = {
    "a": {"rel": "noopener noreferrer nofollow"},
    "audio": _MEDIA,
    "img": {"loading": "lazy", "decoding": "async", "referrerpolicy": "no-referrer"},
    "video": _MEDIA,
}


def _last_word(element: str, attribute: str, value: str) -> str | None:
    """nh3 allows a scheme everywhere or nowhere, but only pictures may use `data:`."""
    is_data = value[:5].lower() == "data:"
    return None if is_data and (element, attribute) != ("img", "src") else value


_CLEANER = nh3.Cleaner(
    tags={*_ELEMENTS, *formulas.ELEMENTS},
    clean_content_tags={"script", "style"},
    attributes={
        "*": set(_EVERYWHERE),
        **{name: {*_ATTRIBUTES.get(name, ()), *_ADDRESSES.get(name, ())} for name in {*_ATTRIBUTES, *_ADDRESSES}},
    },
    allowed_classes={"span": set(CLASSES.values())},
    attribute_filter=_last_word,
    link_rel=None,
    tag_attribute_values={name: {key: {value} for key, value in own.items()} for name, own in _ALWAYS.items()},
    url_schemes={"data", "http", "https", "mailto"},
    url_relative="deny",
)


# --- before the parser: what stays, and where it leads

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_DATA = re.compile(r"data:image/[^\"'\s>)]*+", re.IGNORECASE)
_PICTURE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif);base64,[a-z0-9+/=]+", re.IGNORECASE)
_SIZE = re.compile(r"\d{1,5}(?:\.\d{1,3})?[wx],?")
_LAZY = ("data-src", "data-lazy-src", "data-original")


def _readable(html: str) -> str:
    """Without characters that HTML or Postgres cannot contain, and cut at the maximum length."""
    html = _DATA.sub(lambda match: match[0] if len(match[0]) <= MAX_DATA else "", html)
    return _CONTROLS.sub("", html[:MAX_MARKUP_LENGTH])


def _parsed(draft: str) -> str:
    """The parser's output, without what parsing it again would change: decoded controls, line breaks in a <pre>."""
    safe = _CLEANER.clean(draft).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"<pre([^>]*)>\n+", r"<pre\1>", _CONTROLS.sub("", safe))


def _rewritten(html: str, base_url: str) -> str:
    rewriter = _Rewriter(base_url)
    for token in tokens(html):
        if isinstance(token, str):
            rewriter.text(token)
        elif not rewriter.tag(token):
            break
    return "".join(rewriter.pieces)


class _Rewriter:
    """Writes the tags that articles may have, one after the other."""

    def __init__(self, base_url: str) -> None:
        self.pieces: list[str] = []
        self.base_url = base_url
        self.tags = 0
        self.is_formula = False
        self.formula = ""  # the text of the latest formula
        self.language = ""  # of code, named by an element around it
        self.unseen = 0  # open elements whose content is not shown

    def text(self, text: str) -> None:
        if not self.unseen:
            self.pieces.append(text.replace("<", "&lt;"))
            self.language = "" if text.strip() else self.language

    def tag(self, tag: Tag) -> bool:
        """Write a tag; False if it is one too many."""
        self.tags += 1
        if self.tags > MAX_TAGS:
            return False
        name = tag.name.removeprefix("mml:")
        if self.unseen:
            self.unseen += (-1 if tag.is_end else 1) if name == "span" else 0
        elif name in formulas.ELEMENTS:
            self._of_formula(name, tag)
        elif self.is_formula and name not in BLOCKS and name not in _BOXES:
            pass  # elements outside of MathML would end the formula
        else:
            self._end_formula()
            self._of_article("div" if name in _BOXES else name, tag)
        return True

    def _of_formula(self, name: str, tag: Tag) -> None:
        if name == "math":
            if tag.is_end:
                self._end_formula()
                return
            if self.is_formula:
                return
            self.is_formula = True
            self.formula = attributes(tag).get("alttext", "")
        if self.is_formula:
            is_empty = tag.attribute_text.endswith("/")
            start = _start(name, attributes(tag), "")
            self.pieces.append(f"</{name}>" if tag.is_end else f"{start}</{name}>" if is_empty else start)

    def _end_formula(self) -> None:
        if self.is_formula:
            self.is_formula = False
            self.pieces.append("</math>")

    def _of_article(self, name: str, tag: Tag) -> None:
        if tag.is_end:
            if name in _ELEMENTS:
                self.pieces.append(f"</{name}>")
            return
        given = attributes(tag) if tag.attribute_text else {}
        if name in ("iframe", "embed"):
            self.pieces.append(_embedded(given, self.base_url))
        elif name == "span" and _UNSEEN_COPY.search(given.get("class", "")):
            self.unseen = 1
        elif name in _ELEMENTS and not (name == "img" and self.formula and given.get("alt") == self.formula):
            if "class" in given:
                self.language = language_in(given["class"]) or self.language
            if name == "pre" and self.language:
                given["class"] = f"language-{self.language}"
            self.pieces.append(_start(name, given, self.base_url))


def _start(name: str, given: dict[str, str], base_url: str) -> str:
    """The start tag with the attributes kept; "" for a picture without address, or there to count its readers."""
    rules = _ATTRIBUTES.get(name, _EVERYWHERE)
    kept = {key: value for key in given if key in rules and (value := rules[key](given[key])) is not None}
    if name == "img":
        if is_unseen(given):
            return ""
        given["src"] = _lazy_source(given)
    for key in _ADDRESSES.get(name, ()):
        if value := _address(key, given.get(key, ""), base_url):
            kept[key] = value
    if name in ("img", "source") and (kept.keys().isdisjoint(("src", "srcset")) or is_tracker(kept.get("src", ""))):
        return ""
    kept.update(_ALWAYS.get(name, {}))
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
    return f"<{name}{attributes}>"


def _lazy_source(given: Mapping[str, str]) -> str:
    """The picture's address, which scripts put in the place of a blank one once it comes into view."""
    source = given.get("src", "")
    if source and not source.startswith("data:"):
        return source
    return next((given[name] for name in _LAZY if given.get(name)), source)


def _address(attribute: str, value: str, base_url: str) -> str:
    if attribute == "href":
        return _link(value.strip(), base_url)
    if attribute == "srcset":
        return _picture_set(value, base_url)
    if _PICTURE_DATA.fullmatch(value.strip()):
        return value.strip()
    return _web(value, base_url)


def _link(value: str, base_url: str) -> str:
    if value[:7].lower() == "mailto:":
        return f"mailto:{value[7:MAX_ADDRESS]}"
    return _web(without_tracking(value), base_url)


def _web(value: str, base_url: str) -> str:
    address = absolute(value, base_url) if len(value) <= MAX_ADDRESS else ""
    return address if len(address) <= MAX_ADDRESS else ""


def _picture_set(value: str, base_url: str) -> str:
    """The addresses and sizes of a `srcset`, whose commas may also be part of an address."""
    words = re.sub(r"(\s\d+(?:\.\d+)?[wx]),", r"\1 ", value[: MAX_ADDRESS * MAX_PICTURES_IN_SET]).split()
    pictures: list[str] = []
    for word, following in pairwise((*words, "")):
        if not _SIZE.fullmatch(word) and (address := _web(word.strip(","), base_url)):
            size = following.strip(",")
            pictures.append(f"{address} {size}" if _SIZE.fullmatch(size) else address)
    return ", ".join(pictures[:MAX_PICTURES_IN_SET])


def _embedded(given: Mapping[str, str], base_url: str) -> str:
    """A link to what a frame would have shown, with a picture of it if its site has one, apart from the text around."""
    address = _web(given.get("src") or given.get("data-src") or "", base_url)
    if not address or is_unseen(given) or is_tracker(address):
        return ""
    player = player_of(address)
    label = " ".join(given.get("title", "").split())[:MAX_LABEL] or (player.site if player else host(address))
    shown = _start("img", {"alt": label, "src": player.picture}, "") if player and player.picture else escape(label)
    return f"<figure>{_link_start(player.page if player else address)}{shown}</a></figure>"


def _link_start(address: str) -> str:
    return _start("a", {"href": address}, "")
