"""JSON Feed 1.1: https://www.jsonfeed.org/version/1.1/."""

import json
from collections.abc import Mapping

from apps.published_feeds.formats.feed import Entry, Feed
from apps.sources.formats.feed import Enclosure
from apps.sources.formats.text import without_controls

MEDIA_TYPE = "application/feed+json"
VERSION = "https://jsonfeed.org/version/1.1"


def write(feed: Feed) -> bytes:
    values = {
        "version": VERSION,
        "title": feed.title,
        "home_page_url": feed.home,
        "feed_url": feed.address,
        "description": feed.description,
    }
    written = _filled(values) | {"items": [_item(entry) for entry in feed.entries]}
    return json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _item(entry: Entry) -> dict[str, object]:
    author = entry.author or entry.source_title
    values = {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "date_published": entry.published.isoformat(),
        "date_modified": entry.updated.isoformat() if entry.updated != entry.published else "",
        "authors": [_filled({"name": author, "url": "" if entry.author else entry.source_url})] if author else [],
        "tags": [written for category in entry.categories if (written := without_controls(category))],
        "language": entry.language,
        "image": entry.image,
        "attachments": [_attachment(enclosure) for enclosure in entry.enclosures],
    }
    return _filled(values) | {"content_html": without_controls(entry.html)}


def _attachment(enclosure: Enclosure) -> dict[str, object]:
    return _filled(
        {
            "url": enclosure.url,
            "mime_type": enclosure.media_type or "application/octet-stream",
            "title": enclosure.title,
            "size_in_bytes": enclosure.length,
            "duration_in_seconds": enclosure.duration,
        }
    )


def _filled(values: Mapping[str, object]) -> dict[str, object]:
    """The members that are not empty."""
    return {
        name: without_controls(value) if isinstance(value, str) else value for name, value in values.items() if value
    }
