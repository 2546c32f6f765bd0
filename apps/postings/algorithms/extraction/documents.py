"""Web pages from bytes to a tree, with detection of wrongly declared charsets."""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from itertools import dropwhile, islice
from typing import NamedTuple

import cchardet
import webencodings
from lxml import etree

from apps.sources.formats.characters import is_utf8
from apps.sources.formats.text import without_controls

MAX_PAGE_BYTES = 3 * 2**20  # the rest is ignored

_PRESCANNED = 1024  # bytes, in which browsers expect <meta charset>
_DETECTED_FROM = 200_000  # bytes
_MAX_MISREAD = 1 / 500  # of all characters; more of them say that a declared charset is a wrong one
_OF_HEAD = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noframes", "noscript", "script", "style", "template", "title"}
)
_BOMS = ((BOM_UTF8, "utf-8"), (BOM_UTF16_BE, "utf-16be"), (BOM_UTF16_LE, "utf-16le"))
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")
_SURE = 10  # sequences
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_META_CHARSET = re.compile(rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([a-z0-9_:.-]+)""", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_REST_OF_TAG = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+(?:>|\Z)"""
_ANY_TAG = re.compile(rf"<[a-zA-Z]{_REST_OF_TAG}")
_TAG_OR_COMMENT = re.compile(rf"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|([a-zA-Z][^\s/>]*+){_REST_OF_TAG})", re.DOTALL)
_END_OF_CODE = {name: re.compile(rf"</{name}|\Z", re.IGNORECASE) for name in ("script", "style")}
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_BETWEEN_ATTRIBUTES = re.compile(r"[\s/\"]+")
_MAX_ATTRIBUTES = 500  # of an element; the parser's time grows with their square
_SHORT_TAG = 2 * _MAX_ATTRIBUTES  # characters, as each attribute takes two or more


class Page(NamedTuple):
    root: etree._Element | None  # None where there is no element at all
    charset: str  # its name in the WHATWG standard


def read_page(body: bytes, *, content_type: str = "") -> Page:
    """Decode and parse a web page. Never raises.

    The charset is that of the byte order mark, else of the header, else of a <meta> in the first 1,024 bytes; without
    these, or when they misread more than one character in 500, UTF-8 if the page is that, else what statistics say,
    else windows-1252. Pages that are surely UTF-8 are decoded so despite another declaration, as many were converted
    and still declare the old charset. The parser limits the depth of elements to 256, so a walk may recurse.

    Parameters
    ----------
    body : bytes
        The page, at most 3 MB of it are read.
    content_type : str
        The header, such as "text/html; charset=iso-8859-2".

    Examples
    --------
    >>> page = read_page("<p>Grüße".encode("latin-1"), content_type="text/html; charset=ISO-8859-1")
    >>> page.root.findtext(".//p"), page.charset
    ('Grüße', 'windows-1252')
    """
    text, charset = decode(body[:MAX_PAGE_BYTES], content_type)
    return Page(_parsed(text), charset)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """The text of a page, and the name of its charset."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decoded(body, webencodings.lookup(name)), name
    encoding = _declared(body, content_type)
    if encoding is not None and (encoding is webencodings.UTF8 or not _is_surely_utf8(body)):
        text = _decoded(body, encoding)
        if text.count("\ufffd") <= 1 + len(text) * _MAX_MISREAD:
            return text, encoding.name
    if is_utf8(body):
        encoding = webencodings.UTF8
    else:
        encoding = _detected(body) or encoding or webencodings.lookup("windows-1252")
    return _decoded(body, encoding), encoding.name


def _declared(body: bytes, content_type: str) -> webencodings.Encoding | None:
    header = _HEADER_CHARSET.search(content_type)
    if header and (encoding := webencodings.lookup(header[1])):
        return encoding
    meta = _META_CHARSET.search(_COMMENT.sub(b"", body[:_PRESCANNED]))
    if meta and (encoding := webencodings.lookup(meta[1].decode("ascii"))):
        # UTF-16 is impossible where "charset" is readable as ASCII.
        return webencodings.UTF8 if encoding.name.startswith("utf-16") else encoding
    return None


def _decoded(body: bytes, encoding: webencodings.Encoding) -> str:
    text: str = encoding.codec_info.decode(body, "replace")[0]
    return text.removeprefix("\ufeff")


def _is_surely_utf8(body: bytes) -> bool:
    """Whether there are enough multi-byte sequences of UTF-8 to rule out another charset."""
    found = islice(_MULTIBYTE.finditer(body), _SURE)
    return sum(1 for _ in found) == _SURE and is_utf8(body)


def _detected(body: bytes) -> webencodings.Encoding | None:
    name = cchardet.detect(body[:_DETECTED_FROM]).get("encoding")
    return webencodings.lookup(name) if name else None


def _parsed(text: str) -> etree._Element | None:
    # Not huge_tree: it would lift the limits of depth and of time that hostile pages run into.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=False)
    text = _without_long_tags(without_controls(text.replace("\f", " ")))
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is not None:
        _begin_body(root)
    return root


def _begin_body(root: etree._Element) -> None:
    """Move misplaced elements from the head to the body.

    If a page does not mark the beginning of its body, libxml2 leaves newer elements such as <main> in the head.
    """
    head, body = root.find("head"), root.find("body")
    strays = [] if head is None else list(dropwhile(lambda element: element.tag in _OF_HEAD, head))
    if not strays:
        return
    if body is None:
        body = etree.SubElement(root, "body")
    for place, element in enumerate(strays):
        body.insert(place, element)


def _without_long_tags(text: str) -> str:
    """The page in which elements with far too many attributes have none at all."""
    # Code and comments may match as tags here, but a match that contains a long tag is long itself.
    if not any(_is_long(match[0]) for match in _ANY_TAG.finditer(text) if match.end() - match.start() > _SHORT_TAG):
        return text
    pieces, kept, position = [], 0, 0
    while match := _TAG_OR_COMMENT.search(text, position):
        position = match.end()
        name = match[1]
        if name is None:
            continue
        if _is_long(match[0]):
            pieces += [text[kept : match.start()], f"<{name}>"]
            kept = position
        end = _END_OF_CODE.get(name.lower())
        if end is not None and (found := end.search(text, position)):  # which the end of the text is, too
            position = found.end()
    return "".join([*pieces, text[kept:]])


def _is_long(tag: str) -> bool:
    if len(tag) <= _SHORT_TAG:
        return False
    separators = _BETWEEN_ATTRIBUTES.finditer(_QUOTED.sub('"', tag))
    return sum(1 for _ in separators) > _MAX_ATTRIBUTES
