"""JSON of Fever's API. https://web.archive.org/web/20230616124016/https://feedafever.com/api"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from apps.api.formats.parameters import BadRequest
from apps.api.formats.schemas import Feed, Item
from apps.sources.algorithms.addresses import http_address
from apps.web.algorithms.numbers import MAX_NUMBER

VERSION = 3
MAX_ITEMS = 50  # per response, as in Fever

Json = dict[str, Any]


def signed_in(last_refreshed_at: datetime | None) -> Json:
    return {"api_version": VERSION, "auth": 1, "last_refreshed_on_time": _seconds(last_refreshed_at)}


def not_signed_in() -> Json:
    return {"api_version": VERSION, "auth": 0}


def feeds_groups(groups: Mapping[int, tuple[str, Sequence[int]]]) -> Json:
    """The feeds of groups, given their titles and feeds."""
    found = [{"group_id": id, "feed_ids": joined(feed_ids)} for id, (_, feed_ids) in groups.items() if feed_ids]
    return {"feeds_groups": found}


def favicon_ids(feeds: Iterable[Feed]) -> dict[str, int]:
    """The id of each icon: that of the last feed which has it."""
    return {feed.icon_id: feed.id for feed in feeds if feed.icon_id}


def favicon_json(id: int, png: bytes) -> Json:
    return {"id": id, "data": f"image/png;base64,{b64encode(png).decode()}"}


def feed_json(feed: Feed, favicons: Mapping[str, int]) -> Json:
    return {
        "id": feed.id,
        "favicon_id": favicons.get(feed.icon_id or "", 0),
        "title": feed.title,
        "url": feed.url,
        "site_url": http_address(feed.site_url) or feed.url,
        "is_spark": 0,
        "last_updated_on_time": _seconds(feed.checked_at),
    }


def item_json(item: Item) -> Json:
    return {
        "id": item.id,
        "feed_id": item.feed_id,
        "title": item.heading,
        "author": item.author,
        "html": item.html,
        "url": http_address(item.url),
        "is_saved": int(item.starred),
        "is_read": int(not item.unread),
        "created_on_time": _seconds(item.published_at),
    }


def joined(ids: Iterable[int]) -> str:
    """
    >>> joined([3, 4])
    '3,4'
    """
    return ",".join(map(str, ids))


def read_ids(text: str) -> list[int]:
    """At most fifty ids separated by commas.

    >>> read_ids("3, 4,")
    [3, 4]
    """
    ids = [whole("with_ids", word.strip()) for word in text.split(",") if word.strip()]
    if len(ids) > MAX_ITEMS:
        raise BadRequest(f"“with_ids” names {len(ids):,} items; at most {MAX_ITEMS} are given at once.")
    return ids


def whole(name: str, value: object, *, least: int = 0) -> int:
    """A whole number, as a number or as text.

    >>> whole("limit", "20"), whole("id", 7)
    (20, 7)
    >>> whole("limit", "many")
    Traceback (most recent call last):
    ...
    apps.api.formats.parameters.BadRequest: “limit” has to be a whole number, 0 or more.
    """
    number = value
    if isinstance(value, str) and value.isascii() and len(value) < 20 and value.removeprefix("-").isdecimal():
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MAX_NUMBER:
        raise BadRequest(f"“{name}” has to be a whole number, {least:,} or more.")
    return number


def moment(name: str, value: object) -> datetime:
    """A time in seconds since 1970.

    >>> moment("after", "1709208000").isoformat()
    '2024-02-29T12:00:00+00:00'
    """
    try:
        return datetime.fromtimestamp(whole(name, value), UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadRequest(f"“{name}” has to be a moment in seconds since 1970.") from error


def _seconds(at: datetime | None) -> int:
    return int(at.timestamp()) if at else 0
