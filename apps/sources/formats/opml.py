"""OPML, the lists of subscriptions that feed readers exchange: https://opml.org/spec2.opml."""

import re
from collections.abc import Iterator
from datetime import datetime
from email.utils import format_datetime
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree

from apps.sources.algorithms.addresses import BadAddress, absolute, normalise
from apps.sources.formats.characters import to_utf8, with_references_mended
from apps.sources.formats.text import one_line
from apps.sources.formats.text import without_controls as writable

MAX_DOCUMENT_BYTES = 10_000_000  # bytes
MAX_OUTLINES = 20_000
MAX_FOLDER_DEPTH = 32
MAX_FOLDERS = 32  # of one subscription
MAX_TITLE_LENGTH = 1_000  # characters, as all the lengths below
MAX_FOLDER_NAME = 200
MAX_DESCRIPTION = 2_000
MAX_LANGUAGE = 20

Path = tuple[str, ...]


class BrokenOpml(ValueError):
    """No subscription can be read; the message states the reason, the attributes the place (0: unknown)."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"Line {line}, column {column}: {reason}" if line else reason)
        self.line = line
        self.column = column


class Subscription(NamedTuple):
    xml_url: str
    title: str = ""
    html_url: str = ""
    folders: tuple[Path, ...] = ()  # paths from the outermost folder inwards; none: it lies outside all folders
    language: str = ""
    description: str = ""


class Skipped(NamedTuple):
    line: int
    reason: str


class OpmlDocument(NamedTuple):
    title: str = ""
    subscriptions: tuple[Subscription, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    problem: str = ""  # the first place where the document is not well-formed, though it could be read
    folders: tuple[Path, ...] = ()  # in which order they are written, those without subscriptions as well


def read(content: bytes) -> OpmlDocument:
    """The subscriptions of an OPML document, each once however often it is listed.

    A document that is not well-formed is mended and read as far as possible, with its first error in `problem`. Raises
    BrokenOpml if it is larger than 10 MB, not OPML, declares entities, or is too broken to contain a subscription.

    >>> read(b'<opml><body><outline text="A"><outline xmlUrl="http://a.example/"/></outline></body></opml>').subscriptions
    (Subscription(xml_url='http://a.example/', title='', html_url='', folders=(('A',),), language='', description=''),)
    """
    if len(content) > MAX_DOCUMENT_BYTES:
        raise BrokenOpml(f"The document is larger than {MAX_DOCUMENT_BYTES // 1_000_000} MB, the maximum.")
    root, error = _parse(content)
    reader = _Reader()
    body = _first(root, "body")
    reader.read_outlines(root if body is None else body)
    title = _first(_first(root, "head"), "title")
    if error is not None and not reader.subscriptions:
        raise error
    return OpmlDocument(
        title=one_line(title.text or "", MAX_TITLE_LENGTH) if title is not None else "",
        subscriptions=tuple(reader.subscriptions.values()),
        skipped=tuple(reader.skipped),
        problem=str(error) if error is not None else "",
    )


def write(document: OpmlDocument, created: datetime) -> bytes:
    """An OPML 2.0 document, in which a subscription of several folders is repeated in each.

    Reading it gives the same subscriptions, in the order of their folders.
    """
    root = etree.Element("opml", version="2.0")
    head = etree.SubElement(root, "head")
    etree.SubElement(head, "title").text = writable(document.title)
    etree.SubElement(head, "dateCreated").text = format_datetime(created)
    body = etree.SubElement(root, "body")
    folders: dict[Path, etree._Element] = {(): body}
    for path in document.folders:
        _folder(folders, path)
    for subscription in document.subscriptions:
        attributes = _outline_attributes(subscription)
        for path in subscription.folders or ((),):
            etree.SubElement(_folder(folders, path), "outline", attributes)
    etree.indent(root)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


class _Reader:
    """Collects the subscriptions of one document."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self.skipped: list[Skipped] = []

    def read_outlines(self, body: etree._Element) -> None:
        # A stack instead of recursion, for a document may be nested deeply.
        top: Path = ()
        waiting = [(child, top) for child in _outlines(body)][::-1]
        outlines = 0
        while waiting:
            element, path = waiting.pop()
            outlines += 1
            if outlines > MAX_OUTLINES:
                self.skip(element, f"The list is longer than {MAX_OUTLINES:,} outlines; the rest is skipped.")
                return
            inner = self.read_outline(element, path)
            if inner is not None:
                waiting.extend([(child, inner) for child in _outlines(element)][::-1])

    def read_outline(self, element: etree._Element, path: Path) -> Path | None:
        """Read one outline; returns the folder of its children, None if they are skipped."""
        attributes = {str(name).lower(): str(value) for name, value in element.attrib.items()}
        kind = attributes.get("type", "").strip().lower()
        if attributes.get("iscomment", "").strip().lower() == "true":
            return None
        address = attributes.get("xmlurl", "").strip()
        if not address and kind in ("include", "link"):
            self.skip(element, f"An outline of type “{kind}” does not point to a feed.")
            return None
        if address:
            self.add(element, address, attributes, path)
            return path  # outlines below a subscription come from a forgotten end tag
        name = one_line(attributes.get("text", "") or attributes.get("title", ""), MAX_FOLDER_NAME)
        if not len(element):
            if kind or "htmlurl" in attributes:
                self.skip(element, f"“{name}” has no xmlUrl.")
            return None
        if len(path) >= MAX_FOLDER_DEPTH:
            self.skip(element, f"“{name}” is nested deeper than {MAX_FOLDER_DEPTH} folders.")
            return None
        return (*path, name) if name else path

    def add(self, element: etree._Element, address: str, attributes: dict[str, str], path: Path) -> None:
        try:
            xml_url = normalise(address)
        except BadAddress as error:
            self.skip(element, str(error))
            return
        title = one_line(attributes.get("title", ""), MAX_TITLE_LENGTH) or one_line(
            attributes.get("text", ""), MAX_TITLE_LENGTH
        )
        found = self.subscriptions.get(xml_url) or Subscription(
            xml_url,
            title="" if title in (xml_url, address) else title,
            html_url=absolute(attributes.get("htmlurl", "").strip()),
            language=one_line(attributes.get("language", ""), MAX_LANGUAGE),
            description=one_line(attributes.get("description", ""), MAX_DESCRIPTION),
        )
        paths = filter(None, (*found.folders, path, *_categories(attributes.get("category", ""))))
        folders = tuple(islice(dict.fromkeys(paths), MAX_FOLDERS))
        self.subscriptions[xml_url] = found._replace(folders=folders)

    def skip(self, element: etree._Element, reason: str) -> None:
        self.skipped.append(Skipped(_line(element), reason))


def _parse(content: bytes) -> tuple[etree._Element, BrokenOpml | None]:
    """The root element, and the document's first error if it has any."""
    error = None
    try:
        root = etree.fromstring(content, _parser())
    except etree.XMLSyntaxError as failure:
        line, column = failure.position
        error = BrokenOpml(_plain_reason(str(failure.msg)), line or 1, column)
        root = _recovered(_mended(to_utf8(content, "")[0]))
    if root is None:
        raise error or BrokenOpml("The document is empty.")
    if _name(root) != "opml":
        raise BrokenOpml(f"The document is not OPML, because it starts with <{_name(root)}>.", _line(root), 1)
    declarations: Any = root.getroottree().docinfo.internalDTD
    if declarations is not None and declarations.entities():
        raise BrokenOpml("The document declares entities, which OPML does not allow.", 1, 1)
    return root, error


def _recovered(utf8: bytes) -> etree._Element | None:
    try:
        return etree.fromstring(utf8, _parser(recover=True, encoding="utf-8"))
    except etree.XMLSyntaxError:
        return None


def _parser(recover: bool = False, encoding: str | None = None) -> etree.XMLParser:
    return etree.XMLParser(
        recover=recover, encoding=encoding, resolve_entities=False, no_network=True, remove_comments=True
    )


_PLAIN_REASONS = {
    "Document is empty": "The document is not XML.",
    "Start tag expected": "The document is not XML.",
    "xmlParseEntityRef": "A “&” is not written as “&amp;”.",
    "EntityRef": "A “&” is not written as “&amp;”.",
    "Unescaped '<'": "A “<” in an attribute is not written as “&lt;”.",
    "attributes construct error": "A quotation mark in an attribute is not written as “&quot;”.",
    "Excessive depth": "The outlines are nested too deeply.",
}


def _plain_reason(message: str) -> str:
    """The parser's message in words for people; rare ones stay unchanged, without the place."""
    known = (reason for start, reason in _PLAIN_REASONS.items() if message.startswith(start))
    return next(known, re.sub(r", line \d+, column \d+$", ".", message))


# What lies between two attribute values, or behind the last one. Where programs forgot to escape quotation marks, the
# true end of a value is the mark before another attribute of the outline or before the end of its tag; attributes
# that only HTML has belong to a link inside the value.
_BORDER = re.compile(
    rb"""((?:<outline|")\s+(?!(?:href|target|rel|class|style|src|alt|id|width|height)\s*=)[\w:.-]+\s*=\s*"
    |"\s*/?>(?=\s*(?:<|\Z)))""",
    re.IGNORECASE | re.VERBOSE,
)


def _mended(utf8: bytes) -> bytes:
    """The document with "&", "<" and quotation marks inside attribute values escaped, line by line as before."""
    pieces = _BORDER.split(with_references_mended(utf8))  # text and borders in turn
    for index in range(2, len(pieces) - 1, 2):
        before, value, behind = pieces[index - 1 : index + 2]
        if before.endswith(b'"') and behind.startswith(b'"'):
            pieces[index] = value.replace(b"<", b"&lt;").replace(b'"', b"&quot;")
    return b"".join(pieces)


def _name(element: etree._Element) -> str:
    """The element's local name in lower case; "" for a processing instruction."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""  # QName refuses <a:>


def _line(element: etree._Element) -> int:
    return element.sourceline if isinstance(element.sourceline, int) else 0


def _first(parent: etree._Element | None, name: str) -> etree._Element | None:
    return next((child for child in parent if _name(child) == name), None) if parent is not None else None


def _outlines(parent: etree._Element) -> Iterator[etree._Element]:
    return (child for child in parent if _name(child) == "outline")


def _categories(text: str) -> Iterator[Path]:
    """The paths of a category attribute: "/News/World,Tech" stands for two."""
    for path in text.split(","):
        names = (one_line(name, MAX_FOLDER_NAME) for name in path.split("/"))
        yield tuple(name for name in names if name)[:MAX_FOLDER_DEPTH]


def _outline_attributes(subscription: Subscription) -> dict[str, str]:
    optional = {
        "title": subscription.title,
        "htmlUrl": absolute(subscription.html_url),  # only http and https
        "language": subscription.language,
        "description": subscription.description,
    }
    return {
        "type": "rss",
        "text": writable(subscription.title or subscription.xml_url),
        **{name: writable(value) for name, value in optional.items() if value},
        "xmlUrl": subscription.xml_url,
    }


def _folder(folders: dict[Path, etree._Element], path: Path) -> etree._Element:
    if path not in folders:
        name = writable(path[-1])
        folders[path] = etree.SubElement(_folder(folders, path[:-1]), "outline", text=name, title=name)
    return folders[path]
