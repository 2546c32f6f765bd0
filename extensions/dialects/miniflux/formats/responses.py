"""JSON of Miniflux' API. https://miniflux.app/docs/api.html"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.api.formats.schemas import Category, Feed, Item
from apps.sources.algorithms.addresses import http_address

API_VERSION = "2.2.0"  # of Miniflux; programs decide by it what they may call
NEVER = "0001-01-01T00:00:00Z"  # Go's zero time
MAX_ENCLOSURES = 1_000  # per posting; an enclosure's id combines posting and place

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry(Item):
    """A posting with all stored data."""

    comments_url: str
    identity: str
    categories: Sequence[str]
    enclosures: Sequence[Mapping[str, Any]]  # as stored with postings
    retrieved_at: datetime
    changed_at: datetime
    minutes: int  # of reading time
    playback: tuple[str, float] = ("", 0.0)  # address of the recording that the user has begun, and position in seconds


def written(at: datetime | None) -> str:
    """A time in whole seconds: some programs cannot parse fractions.

    >>> written(datetime(2024, 2, 29, 12, 0, 0, 5, tzinfo=UTC)), written(None)
    ('2024-02-29T12:00:00Z', '0001-01-01T00:00:00Z')
    """
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else NEVER


def category_json(category: Category, user_id: int) -> Json:
    return {"id": category.id, "title": category.title, "user_id": user_id, "hide_globally": False}


def feed_json(feed: Feed, user_id: int) -> Json:
    failures = feed.failures
    return {
        "id": feed.id,
        "user_id": user_id,
        "title": feed.title,
        "feed_url": feed.url,
        "site_url": http_address(feed.site_url) or feed.url,
        "description": feed.description,
        "checked_at": written(feed.checked_at),
        "next_check_at": written(feed.next_check_at),
        "parsing_error_count": failures,
        "parsing_error_message": f"It failed {failures:,} times, one after another." if failures else "",
        "disabled": not feed.is_active,
        "hide_globally": feed.is_muted,
        "crawler": feed.wants_pages,
        "category": category_json(feed.category, user_id),
        # One icon for each feed, so that its id is the feed's.
        "icon": {"feed_id": feed.id, "icon_id": feed.id} if feed.icon_id else None,
        **_UNSUPPORTED,
    }


def icon_json(feed: Feed, png: bytes) -> Json:
    return {"id": feed.id, "mime_type": "image/png", "data": f"image/png;base64,{b64encode(png).decode()}"}


# Settings per user in Miniflux; here a source is checked once for all followers.
_UNSUPPORTED: Json = {
    **dict.fromkeys(("etag_header", "last_modified_header", "scraper_rules", "rewrite_rules", "blocklist_rules"), ""),
    **dict.fromkeys(("keeplist_rules", "urlrewrite_rules", "user_agent", "cookie", "username", "password"), ""),
    **dict.fromkeys(
        ("ignore_http_cache", "allow_self_signed_certificates", "fetch_via_proxy", "no_media_player"), False
    ),
}


def entry_json(entry: Entry, feed: Json, user_id: int) -> Json:
    return {
        "id": entry.id,
        "user_id": user_id,
        "feed_id": entry.feed_id,
        "status": "unread" if entry.unread else "read",
        "hash": entry.identity,
        "title": entry.heading or entry.url,
        "url": http_address(entry.url),
        "comments_url": http_address(entry.comments_url),
        "published_at": written(entry.published_at),
        "created_at": written(entry.retrieved_at),
        "changed_at": written(entry.changed_at),
        "content": entry.html,
        "author": entry.author,
        "share_code": "",
        "starred": entry.starred,
        "reading_time": entry.minutes,
        "enclosures": [enclosure_json(entry, place, user_id) for place in range(len(entry.enclosures))],
        "tags": list(entry.categories),
        "feed": feed,
    }


def enclosure_json(entry: Entry, place: int, user_id: int) -> Json:
    enclosure = entry.enclosures[place]
    address, seconds = entry.playback
    return {
        "id": enclosure_id(entry.id, place),
        "user_id": user_id,
        "entry_id": entry.id,
        "url": http_address(enclosure.get("url", "")),
        "mime_type": enclosure.get("media_type") or "application/octet-stream",
        "size": enclosure.get("length") or 0,
        "media_progression": int(seconds) if address and address == enclosure.get("url") else 0,
    }


def enclosure_id(entry_id: int, place: int) -> int:
    """
    >>> enclosure_place(enclosure_id(42, 3))
    (42, 3)
    """
    return entry_id * MAX_ENCLOSURES + place


def enclosure_place(number: int) -> tuple[int, int]:
    """The posting of an enclosure, and its place there."""
    return divmod(number, MAX_ENCLOSURES)
