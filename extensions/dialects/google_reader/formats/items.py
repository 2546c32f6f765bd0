"""Items as JSON, and as Atom in FeedHQ's dialect."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.api.formats import schemas
from apps.postings.algorithms.times import microseconds
from apps.published_feeds.formats.xml import template
from apps.sources.formats.feed import Enclosure
from extensions.dialects.google_reader.formats.ids import long_form
from extensions.dialects.google_reader.formats.streams import Stream

_ATOM = template("items-atom.xml", beside=__file__)
_NEVER = "1970-01-01T00:00:00Z"
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
        "marked": STARRED in item.categories,  # Liferea takes stars from here, and removes its own without it
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
    return _ATOM.render(
        tag="tag:google.com,2005:reader/",
        stream=stream,
        title=title,
        url=url,
        site_url=site_url,
        continuation=continuation,
        updated=max((_written(item.updated_at) for item in items), default=_NEVER),
        items=items,
        long_form=long_form,
        microseconds=microseconds,
        written=_written,
    ).encode()


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
