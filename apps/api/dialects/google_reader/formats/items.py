"""Items as JSON, and as Atom in FeedHQ's dialect."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lxml import etree

from apps.api.dialects.google_reader.formats.forms import microseconds
from apps.api.dialects.google_reader.formats.ids import long_form
from apps.api.dialects.google_reader.formats.streams import Stream
from apps.api.formats import schemas
from apps.sources.formats.feed import Enclosure
from apps.sources.formats.text import without_controls as writable

ATOM = "http://www.w3.org/2005/Atom"
GOOGLE = "http://www.google.com/schemas/reader/atom/"
SCHEME = "http://www.google.com/reader/"  # by which newsboat recognizes the categories of states
_TAG = "tag:google.com,2005:reader/"
_NEVER = "1970-01-01T00:00:00Z"
_NAMES: Any = {None: ATOM, "gr": GOOGLE}
READ, KEPT_UNREAD, FRESH, STARRED, BROADCAST = (
    Stream("state", name) for name in ("read", "kept-unread", "fresh", "starred", "broadcast")
)


@dataclass(frozen=True, slots=True)
class Item(schemas.Item):
    """A posting with states and labels; `url` is empty unless it is an HTTP address."""

    guid: str
    enclosures: tuple[Enclosure, ...]
    updated_at: datetime
    retrieved_at: datetime
    source_title: str
    site_url: str
    categories: tuple[Stream, ...]  # its states, and the labels of its folders and tags


# --- JSON -------------------------------------------------------------------------------------------------------------
def item_as_json(item: Item) -> dict[str, Any]:
    page = [{"href": item.url, "type": "text/html"}] if item.url else []
    retrieved = microseconds(item.retrieved_at)
    values: dict[str, Any] = {
        "id": long_form(item.id),
        "crawlTimeMsec": str(retrieved // 1_000),
        "timestampUsec": str(retrieved),
        "published": microseconds(item.published_at) // 1_000_000,
        "updated": microseconds(item.updated_at) // 1_000_000,
        "title": item.heading,
        "canonical": [{"href": item.url}] if item.url else [],
        "alternate": page,
        "categories": [str(category) for category in item.categories],
        "origin": {
            "streamId": str(Stream("feed", str(item.feed_id))),
            "htmlUrl": item.site_url,
            "title": item.source_title,
        },
        "summary": {"direction": "ltr", "content": item.html},
    }
    if item.author:
        values["author"] = item.author
    if item.enclosures:
        values["enclosure"] = [_enclosure_as_json(enclosure) for enclosure in item.enclosures]
    return values


def _enclosure_as_json(enclosure: Enclosure) -> dict[str, Any]:
    length = {} if enclosure.length is None else {"length": enclosure.length}
    return {"href": enclosure.url, "type": enclosure.media_type} | length


# --- Atom -------------------------------------------------------------------------------------------------------------
def as_atom(items: Sequence[Item], *, stream: Stream, title: str, url: str, site_url: str, continuation: str) -> bytes:
    """An Atom 1.0 document; categories of Google's scheme contain the states."""
    feed = etree.Element(f"{{{ATOM}}}feed", nsmap=_NAMES)
    _add(feed, "generator", "Wirebeat")
    _add(feed, "id", f"{_TAG}{stream}")
    _add(feed, "title", title, type="text")
    _add(feed, "link", rel="self", href=url)
    _add_page(feed, site_url)
    _add(feed, "updated", max((_written(item.updated_at) for item in items), default=_NEVER))
    if continuation:
        etree.SubElement(feed, f"{{{GOOGLE}}}continuation").text = continuation
    for item in items:
        _add_entry(feed, item)
    return etree.tostring(feed, encoding="utf-8", xml_declaration=True)


def _add_entry(feed: etree._Element, item: Item) -> None:
    entry = _add(feed, "entry")
    entry.set(f"{{{GOOGLE}}}crawl-timestamp-msec", str(microseconds(item.retrieved_at) // 1_000))
    _add(entry, "id", long_form(item.id)).set(f"{{{GOOGLE}}}original-id", writable(item.guid))
    for category in item.categories:
        # A tag with the name of a state must be distinguishable from it.
        scheme = {"scheme": SCHEME} if category.kind == "state" else {}
        _add(entry, "category", term=str(category), label=category.name, **scheme)
    _add(entry, "title", item.heading, type="text")
    _add(entry, "published", _written(item.published_at))
    _add(entry, "updated", _written(item.updated_at))
    _add_page(entry, item.url)
    for enclosure in item.enclosures:
        length = {} if enclosure.length is None else {"length": str(enclosure.length)}
        _add(entry, "link", rel="enclosure", href=enclosure.url, type=enclosure.media_type, **length)
    _add(entry, "content", item.html, type="html")
    _add(_add(entry, "author"), "name", item.author or item.source_title)
    source = _add(entry, "source")
    source.set(f"{{{GOOGLE}}}stream-id", str(Stream("feed", str(item.feed_id))))
    _add(source, "id", f"{_TAG}feed/{item.feed_id}")
    _add(source, "title", item.source_title, type="text")
    _add_page(source, item.site_url)


def _add(parent: etree._Element, name: str, text: str = "", **attributes: str) -> etree._Element:
    written = {key: writable(value) for key, value in attributes.items()}
    element = etree.SubElement(parent, f"{{{ATOM}}}{name}", written)
    element.text = writable(text) or None
    return element


def _add_page(parent: etree._Element, url: str) -> None:
    if url:
        _add(parent, "link", rel="alternate", type="text/html", href=url)


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
