"""JSON Feed 1.0 and 1.1."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from apps.sources.formats.dates import parse_date
from apps.sources.formats.extensions import MAX_DURATION, MAX_LENGTH, MAX_LISTED, cloud
from apps.sources.formats.feed import MAX_ENTRIES, Cloud, Enclosure, NotAFeed, ParsedEntry, ParsedFeed, left_out
from apps.sources.formats.text import (
    MAX_CONTENT,
    MAX_DESCRIPTION,
    MAX_IDENTIFIER,
    MAX_LANGUAGE,
    MAX_NAME,
    one_line,
    paragraphs,
    unescaped_title,
    web_address,
    without_controls,
)


def read_json_feed(utf8: bytes, url: str, problems: tuple[str, ...]) -> ParsedFeed:
    """The feed in a JSON document. Raises NotAFeed if it is not JSON, or JSON of another kind."""
    try:
        feed = json.loads(utf8)
    except RecursionError:
        raise NotAFeed("This JSON document is nested too deeply to be a feed.") from None
    except ValueError as error:
        raise NotAFeed(f"This looks like JSON but cannot be read: {str(error)[:200]}.") from None
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        raise NotAFeed("This is JSON, but not a JSON Feed: it has no list of items.")
    if "jsonfeed" not in _text(feed, "version"):
        problems = (*problems, "The JSON document does not say its version of JSON Feed.")
    items = [item for item in feed["items"] if isinstance(item, dict)]
    language = one_line(_text(feed, "language"), MAX_LANGUAGE)
    hubs = list(_objects(feed, "hubs"))
    return ParsedFeed(
        kind="json",
        title=one_line(_text(feed, "title")),
        link=_address(feed, "home_page_url", url),
        description=one_line(_text(feed, "description"), MAX_DESCRIPTION),
        language=language,
        image_url=_address(feed, "icon", url) or _address(feed, "favicon", url),
        self_url=_address(feed, "feed_url", url),
        hub_urls=tuple(filter(None, (_address(hub, "url", url) for hub in hubs if not _is_cloud(hub)))),
        cloud=next(filter(None, (_cloud(hub) for hub in hubs if _is_cloud(hub))), None),
        entries=tuple(_entry(item, url) for item in items[:MAX_ENTRIES]),
        problems=(*problems, *left_out(len(items))),
    )


def _is_cloud(hub: dict[str, Any]) -> bool:
    return _text(hub, "type").lower() == "rsscloud"


def _cloud(hub: dict[str, Any]) -> Cloud | None:
    address = urlsplit(_address(hub, "url", ""))
    usual = 443 if address.scheme == "https" else 80
    path = f"{address.path}?{address.query}" if address.query else address.path
    parts = {"domain": address.hostname or "", "port": address.port or usual, "path": path, "protocol": "http-post"}
    return cloud(parts.items())


def _entry(item: dict[str, Any], url: str) -> ParsedEntry:
    guid = _text(item, "id", MAX_IDENTIFIER).strip()
    content = _text(item, "content_html", MAX_CONTENT) or paragraphs(_text(item, "content_text", MAX_CONTENT))
    return ParsedEntry(
        guid=guid,
        link=_address(item, "url", url) or _address(item, "external_url", url) or web_address(guid),
        title=unescaped_title(_text(item, "title")),
        summary=paragraphs(_text(item, "summary", MAX_CONTENT)),
        content=content.strip(),
        published=parse_date(_text(item, "date_published")),
        updated=parse_date(_text(item, "date_modified")),
        authors=_authors(item),
        categories=_tags(item),
        language=one_line(_text(item, "language"), MAX_LANGUAGE),
        image_url=_address(item, "image", url) or _address(item, "banner_image", url),
        enclosures=_attachments(item, url),
    )


def _text(holder: dict[str, Any], name: str, limit: int = MAX_IDENTIFIER) -> str:
    value = holder.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)  # ids are numbers more often than the format allows
    return without_controls(value[:limit]) if isinstance(value, str) else ""


def _address(holder: dict[str, Any], name: str, base: str) -> str:
    return web_address(_text(holder, name, MAX_IDENTIFIER + 1), base)


def _objects(holder: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    values = holder.get(name)
    return (value for value in (values if isinstance(values, list) else [])[:MAX_LISTED] if isinstance(value, dict))


def _authors(item: dict[str, Any]) -> tuple[str, ...]:
    single = item.get("author")  # version 1.0
    people = [*_objects(item, "authors"), *([single] if isinstance(single, dict) else [])]
    return tuple(dict.fromkeys(filter(None, (one_line(_text(person, "name")) for person in people))))


def _tags(item: dict[str, Any]) -> tuple[str, ...]:
    tags = item.get("tags")
    texts = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return tuple(dict.fromkeys(filter(None, (one_line(without_controls(tag), MAX_NAME) for tag in texts[:MAX_LISTED]))))


def _attachments(item: dict[str, Any], url: str) -> tuple[Enclosure, ...]:
    found = {}
    for attachment in _objects(item, "attachments"):
        if address := _address(attachment, "url", url):
            found[address] = Enclosure(
                url=address,
                media_type=one_line(_text(attachment, "mime_type"), MAX_NAME).lower(),
                length=_count(attachment.get("size_in_bytes"), MAX_LENGTH),
                duration=_count(attachment.get("duration_in_seconds"), MAX_DURATION),
                title=one_line(_text(attachment, "title")),
            )
    return tuple(found.values())


def _count(value: object, most: int) -> int | None:
    # The comparison also rejects NaN.
    return int(value) if isinstance(value, (int, float)) and 0 < value <= most else None
