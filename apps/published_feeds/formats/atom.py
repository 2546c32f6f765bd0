"""Atom 1.0 (RFC 4287), entry by entry, so that a long feed is never in memory as a whole."""

from collections.abc import Iterable, Iterator

from lxml import etree

from apps.published_feeds.formats.feed import Entry, Feed
from apps.published_feeds.formats.xml import add, element
from apps.sources.formats.text import without_controls

MEDIA_TYPE = "application/atom+xml"
ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACE = {None: ATOM}  # the one without a prefix
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def write(feed: Feed) -> bytes:
    return b"".join(pieces(feed, feed.entries))


def pieces(feed: Feed, entries: Iterable[Entry]) -> Iterator[bytes]:
    """A feed with these entries instead of its own, one a piece.

    >>> empty = Feed("Starred", "", "urn:x")
    >>> b"".join(pieces(empty, [])).decode().splitlines()[1]
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    """
    yield b'<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<feed xmlns="{ATOM}">\n'.encode()
    for part in _head(feed):
        yield _written(part)
    for entry in entries:
        yield _written(_entry(entry))
    yield b"</feed>\n"


def _head(feed: Feed) -> Iterator[etree._Element]:
    yield _element("title", feed.title)
    yield _element("id", feed.id or feed.address)
    yield _element("updated", feed.updated.isoformat())
    if feed.description:
        yield _element("subtitle", feed.description)
    if feed.address and not feed.id:
        yield _element("link", rel="self", type=MEDIA_TYPE, href=feed.address)
    if feed.home:
        yield _element("link", rel="alternate", type="text/html", href=feed.home)
    for hub in feed.hubs:
        yield _element("link", rel="hub", href=hub)


def _entry(entry: Entry) -> etree._Element:
    made = _element("entry")
    _add(made, "id", entry.id)
    _add(made, "title", entry.title)
    if entry.url:
        _add(made, "link", rel="alternate", href=entry.url)
    _add(made, "published", entry.published.isoformat())
    _add(made, "updated", entry.updated.isoformat())
    author = _add(made, "author")
    _add(author, "name", without_controls(entry.author or entry.source_title) or entry.source_url or "Wirebeat")
    for category in filter(without_controls, entry.categories):
        _add(made, "category", term=category)
    for enclosure in entry.enclosures:
        link = _add(made, "link", rel="enclosure", href=enclosure.url)
        for name, value in (("type", enclosure.media_type), ("title", enclosure.title)):
            if value:
                link.set(name, without_controls(value))
        if enclosure.length:
            link.set("length", str(enclosure.length))
    if entry.source_url:
        source = _add(made, "source")
        _add(source, "id", entry.source_url)
        _add(source, "title", entry.source_title)
        _add(source, "updated", entry.updated.isoformat())
        _add(source, "link", rel="alternate", href=entry.source_url)
    content = _add(made, "content", entry.html, type="html")
    if entry.language:
        content.set(_LANGUAGE, without_controls(entry.language))
    return made


def _element(name: str, text: str = "", **attributes: str) -> etree._Element:
    return element(f"{{{ATOM}}}{name}", text, _NAMESPACE, **attributes)


def _add(parent: etree._Element, name: str, text: str = "", **attributes: str) -> etree._Element:
    return add(parent, f"{{{ATOM}}}{name}", text, **attributes)


def _written(part: etree._Element) -> bytes:
    # Each piece would declare the namespace that the feed around it declares already.
    return etree.tostring(part, encoding="utf-8").replace(f' xmlns="{ATOM}"'.encode(), b"", 1) + b"\n"
