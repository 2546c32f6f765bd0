"""Publishers' markup made safe to show inside our pages, and its plain text.

Three steps: our own tokenizer (`tokens`) keeps the elements of articles, makes addresses absolute and drops trackers;
nh3, a browser's parser with an allow-list, builds the tree and guarantees safety; its output is read once more for the
text. Everything takes bounded time:

- an article longer than 1,000,000 characters, or of more than 20,000 tags, ends there;
- a picture inside its own address (`data:`) is dropped above 32,000 characters;
- an article that the parser makes larger than that, nests deeper than 100 elements or reads differently each time
  keeps its text alone.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise

import nh3

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
MIN_PICTURE = 64  # pixels a side; smaller ones are faces and buttons, which stand for no article

Rule = Callable[[str], str | None]  # an attribute's value as given to the value kept, None to drop it


@dataclass(frozen=True, slots=True)
class CleanMarkup:
    html: str
    text: str  # paragraphs stand apart by an empty line, items of lists begin with "- "
    image_url: str  # the first picture large enough to stand for the article, or ""


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
    safe = _parsed(_rewritten(_readable(html), base_url))
    for _ in range(MAX_READINGS):
        reading = _read(safe)
        if len(safe) > MAX_MARKUP_LENGTH or safe.count("<") > MAX_TAGS or reading.depth > MAX_DEPTH:
            break
        again = _parsed(safe)
        if again == safe:
            return CleanMarkup(safe, reading.text, reading.image_url)
        safe = again
    text = reading.text[:MAX_TEXT]
    return CleanMarkup(paragraphs(text), text, reading.image_url)


# --- elements and attributes of articles

_BOXES = frozenset({
    "address", "article", "aside", "center", "dialog", "fieldset", "footer", "form", "header", "hgroup", "main", "nav",
    "search", "section",
})  # fmt: skip
_VIDEO_PAGES = (
    (
        re.compile(r"https?://(?:www\.)?youtube(?:-nocookie)?\.com/(?:embed|v)/([\w-]{6,20})"),
        "https://www.youtube.com/watch?v=",
    ),
    (re.compile(r"https?://player\.vimeo\.com/video/(\d+)"), "https://vimeo.com/"),
    (re.compile(r"https?://(?:www\.|geo\.)?dailymotion\.com/embed/video/(\w+)"), "https://www.dailymotion.com/video/"),
)
_BLOCKS = frozenset({
    "audio", "blockquote", "caption", "details", "div", "dl", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "ol", "p", "pre", "summary", "table", "ul", "video",
})  # fmt: skip
_LINES = frozenset({"br", "dd", "dt", "li", "tr"})
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark", "picture",
    "q", "rp", "rt", "ruby", "s", "samp", "small", "source", "span", "strong", "sub", "sup", "time", "u", "var", "wbr",
})  # fmt: skip
_TABLE_PARTS = frozenset({"col", "colgroup", "tbody", "td", "tfoot", "th", "thead"})
_ELEMENTS = _BLOCKS | _LINES | _INLINE | _TABLE_PARTS
_VOID = frozenset({"br", "col", "hr", "img", "source", "wbr"})


def _matching(pattern: str) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda value: value if compiled.fullmatch(value) else None


def _label(value: str) -> str | None:
    return value[:MAX_LABEL] or None


def _present(value: str) -> str:
    return ""


_number = _matching(r"\d{1,5}")
_language = _matching(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}")
_EVERYWHERE: Mapping[str, Rule] = {"dir": _matching("ltr|rtl|auto"), "lang": _language}
_OWN_ATTRIBUTES: Mapping[str, Mapping[str, Rule]] = {
    "a": {"title": _label},
    "abbr": {"title": _label},
    "col": {"span": _number},
    "colgroup": {"span": _number},
    "del": {"datetime": _label},
    "details": {"open": _present},
    "img": {"alt": _label, "height": _number, "sizes": _label, "title": _label, "width": _number},
    "ins": {"datetime": _label},
    "li": {"value": _number},
    "ol": {"reversed": _present, "start": _number, "type": _matching("[1ai]")},
    "source": {"media": _label, "sizes": _label, "type": _matching(r"(?:image|audio|video)/[\w.+-]+")},
    "td": {"colspan": _number, "rowspan": _number},
    "th": {"colspan": _number, "rowspan": _number, "scope": _matching("row|col|rowgroup|colgroup")},
    "time": {"datetime": _label},
    "video": {"height": _number, "width": _number},
}
_ATTRIBUTES = {name: {**_EVERYWHERE, **own} for name, own in _OWN_ATTRIBUTES.items()}
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
    tags=set(_ELEMENTS),
    clean_content_tags={"script", "style"},
    attributes={
        "*": set(_EVERYWHERE),
        **{name: {*_ATTRIBUTES.get(name, ()), *_ADDRESSES.get(name, ())} for name in {*_ATTRIBUTES, *_ADDRESSES}},
    },
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
    """Without characters that neither HTML nor Postgres can hold, and not longer than what we read."""
    html = _DATA.sub(lambda match: match[0] if len(match[0]) <= MAX_DATA else "", html)
    return _CONTROLS.sub("", html[:MAX_MARKUP_LENGTH])


def _parsed(draft: str) -> str:
    """What the parser makes of it, without what a second reading would change: decoded controls, breaks in a <pre>."""
    safe = _CLEANER.clean(draft).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"<pre([^>]*)>\n+", r"<pre\1>", _CONTROLS.sub("", safe))


def _rewritten(html: str, base_url: str) -> str:
    pieces = []
    tags = 0
    for token in tokens(html):
        if isinstance(token, str):
            pieces.append(token.replace("<", "&lt;"))
            continue
        tags += 1
        if tags > MAX_TAGS:
            break
        name = "div" if token.name in _BOXES else token.name
        if name in ("iframe", "embed") and not token.is_end:
            pieces.append(_embedded(attributes(token), base_url))
        elif name in _ELEMENTS:
            pieces.append(f"</{name}>" if token.is_end else _start(name, token, base_url))
    return "".join(pieces)


def _start(name: str, tag: Tag, base_url: str) -> str:
    """The start tag with the attributes kept; "" for a picture without address, or there to count its readers."""
    given = attributes(tag) if tag.attribute_text else {}
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
    return f"<{name}{''.join(_attribute(*each) for each in kept.items())}>" if kept else f"<{name}>"


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"'


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
    """A link to what a frame would have shown."""
    address = _web(given.get("src") or given.get("data-src") or "", base_url)
    if not address or is_unseen(given) or is_tracker(address):
        return ""
    for pattern, page in _VIDEO_PAGES:
        if video := pattern.match(address):
            address = f"{page}{video[1]}"
    label = " ".join(given.get("title", "").split())[:MAX_LABEL] or host(address)
    start = _start("a", Tag("a", False, _attribute("href", address)), "")
    return f"{start}{escape(label)}</a>"


# --- after the parser: the text


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    image_url: str
    depth: int


def _read(safe: str) -> _Reading:
    """Text, first picture and depth of what the parser wrote, where every tag is closed and every value quoted."""
    pieces: list[str] = []
    image_url = ""
    depth = deepest = preformatted = 0
    for token in tokens(safe):
        if isinstance(token, str):
            text = unescape(token) if "&" in token else token
            pieces.append(text if preformatted else text.replace("\n", " "))
            continue
        name, is_end, _ = token
        if name not in _VOID:
            depth += -1 if is_end else 1
            deepest = max(deepest, depth)
        if name == "pre":
            preformatted += -1 if is_end else 1
        if name == "img" and not image_url:
            image_url = _large_picture(attributes(token))
        pieces.append(_separator(name, is_end))
    return _Reading(_tidy("".join(pieces)), image_url, deepest)


def _separator(name: str, is_end: bool) -> str:
    if name in _BLOCKS:
        return "\n\n"
    if name in _LINES and not is_end:
        return "\n- " if name == "li" else "\n"
    return " " if name in ("td", "th") else ""


def _tidy(text: str) -> str:
    text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    text = re.sub(r"(?m)^-\n+", "- ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _large_picture(given: Mapping[str, str]) -> str:
    sizes = (given.get("width", ""), given.get("height", ""))
    is_small = any(size.isdigit() and int(size) < MIN_PICTURE for size in sizes)
    source = given.get("src", "")
    return "" if is_small or source.startswith("data:") else source
