"""XML documents as trees with canonical element names, and descriptions of documents that are not feeds."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lxml import etree

MAX_PROBLEMS = 5
MAX_PROBLEM = 200  # characters

XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"

_WEB_PAGE = re.compile(
    rb"(?:\s|<\?[^>]*>|<!--(?:[^-]|-(?!->))*-->)*<(?:!doctype\s+html|html|head|body|script|title|meta)\b", re.IGNORECASE
)
_FIRST_ELEMENT = re.compile(rb"<(?:[\w.-]{1,50}:)?([A-Za-z_][\w.-]{0,50})", re.ASCII)
_MAGIC = [  # after decoding
    (b"%PDF", "a PDF document"), (b"GIF8", "a picture"), (b"PK", "a zip archive"),
    (b"ID3", "a sound file"), (b"OggS", "a sound or video file"), (b"RIFF", "a picture, sound or video file"),
    ("‰PNG".encode(), "a picture"), ("ÿØÿ".encode(), "a picture"),
]  # fmt: skip
_NAMES = json.loads(Path(__file__).with_name("xml-names.json").read_text("utf-8"))
_OTHER_XML: Mapping[str, str] = _NAMES["documents"]
_PREFIXES: Mapping[str, str] = _NAMES["namespaces"]  # by namespace, in small letters and without a last slash


class Document(NamedTuple):
    root: etree._Element | None
    url: str
    well_formed: bool
    problems: tuple[str, ...]
    has_bases: bool  # some element carries xml:base

    def base(self, element: etree._Element) -> str:
        """The address that relative ones within the element are relative to."""
        return (element.base or self.url) if self.has_bases else self.url


def read_tree(utf8: bytes, url: str, problems: tuple[str, ...], *, recover: bool = False) -> Document:
    """The tree of an XML document, for a broken one none or, with `recover`, a partial one. Loads no other files."""
    parser = etree.XMLParser(
        encoding="utf-8", recover=recover, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    root = None
    with suppress(etree.LxmlError):  # the parser's log says the same
        root = etree.fromstring(utf8, parser, base_url=url.encode("utf-8", "replace")) if utf8 else None
    errors = [entry for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR]
    lines = dict.fromkeys(f"Line {entry.line}: {entry.message[:MAX_PROBLEM]}" for entry in errors[:MAX_PROBLEMS])
    # What a document type declares is left in the tree as an unread entity.
    entities = root is not None and b"<!DOCTYPE" in utf8 and any(True for _ in root.iter(etree.Entity))
    return Document(
        root=root,
        url=url,
        well_formed=root is not None and not errors and not entities,
        problems=tuple(dict.fromkeys((*problems, *lines))),
        has_bases=b"xml:base" in utf8,
    )


@lru_cache(maxsize=4096)
def canonical_name(tag: str) -> str:
    """The element's name as the parsers know it: a fixed prefix for the namespace, the local name in small letters.

    The elements of RSS, in whichever of its namespaces, have no prefix. Nor have Atom's, except its link, which is
    written otherwise than that of RSS.

    >>> canonical_name("{http://search.yahoo.com/mrss/}thumbnail"), canonical_name("pubDate")
    ('media:thumbnail', 'pubdate')
    >>> canonical_name("{http://www.w3.org/2005/Atom}title"), canonical_name("{http://www.w3.org/2005/Atom}link")
    ('title', 'atom:link')
    """
    namespace, _, local = tag.rpartition("}")
    local = local.lower()
    key = namespace[1:].lower()
    prefix = _PREFIXES.get(key, _PREFIXES.get(key.rstrip("/"))) if key else ""
    if prefix is None:
        # RSS 2.0 has known several namespaces. A prefix that was never declared is its own namespace.
        prefix = "" if key.startswith("http://backend.userland.com/rss") else key
    if prefix == "atom" and local != "link":
        prefix = ""
    return f"{prefix}:{local}" if prefix else local


Children = dict[str, list[etree._Element]]


def children_by_name(element: etree._Element) -> Children:
    """The element's children by their canonical names, in the document's order."""
    children: Children = defaultdict(list)
    for child in element.iterchildren("*"):
        children[canonical_name(child.tag)].append(child)
    return children


def first(children: Children, *names: str) -> etree._Element | None:
    """The first element of the first name that has any."""
    for name in names:
        if name in children:
            return children[name][0]
    return None


def text_of(element: etree._Element | None) -> str:
    """All text within the element, without outer white space."""
    if element is None:
        return ""
    return ("".join(map(str, element.itertext())) if len(element) else element.text or "").strip()


def first_of(children: Children, read: Callable[[etree._Element], str], *names: str) -> str:
    """The first value that is not empty, of the elements in the order of the names."""
    return next(filter(None, (read(element) for name in names for element in children.get(name, ()))), "")


def first_text(children: Children, *names: str) -> str:
    """The text of the first element, in the order of the names, that has any."""
    return first_of(children, text_of, *names)


def all_texts(children: Children, *names: str) -> Iterator[str]:
    """The texts of all elements of these names, empty ones left out."""
    return (text for name in names if name in children for element in children[name] if (text := text_of(element)))


def describe(utf8: bytes, problems: tuple[str, ...] = ()) -> str:
    """A sentence for people that names the kind of a document that is not a feed."""
    if not utf8:
        return "The document is empty."
    for beginning, kind in _MAGIC:
        if utf8.startswith(beginning):
            return f"This is {kind}, not a feed."
    if is_web_page(utf8):
        return "This is a web page, not a feed."
    root = _FIRST_ELEMENT.search(utf8[:65_536])
    if root is None or not utf8.startswith(b"<"):
        return "This is neither XML nor JSON, so it is not a feed."
    name = root[1].decode("ascii")
    if name.lower() in ("rss", "rdf", "feed") and problems:
        return f"This began as a feed, but it is too broken to be read. {problems[-1]}"
    known = _OTHER_XML.get(name.lower())
    return f"This is {known or f'an XML document of another kind (<{name}>)'}, not a feed."


def is_web_page(utf8: bytes) -> bool:
    """Whether the document begins as HTML does."""
    return _WEB_PAGE.match(utf8[:4096]) is not None
