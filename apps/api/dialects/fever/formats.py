"""Fever's API: what programs are answered. https://web.archive.org/web/20230616124016/https://feedafever.com/api"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.api.formats.parameters import BadRequest, whole
from apps.api.formats.schemas import Item
from apps.sources.algorithms.addresses import http_address

VERSION = 3
MAX_ITEMS = 50  # of an answer, as Fever has it
BODY_HEAT = 98.6  # degrees, Fahrenheit: where the temperatures of Fever's links begin

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """A folder, with the sources in it and below."""

    id: int
    title: str
    feed_ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Link:
    """A story that several sources tell."""

    id: int
    item: Item  # that leads it
    sources: int
    item_ids: Collection[int]  # its other postings as well


def signed_in(last_refreshed_at: datetime | None) -> Json:
    return {"api_version": VERSION, "auth": 1, "last_refreshed_on_time": _seconds(last_refreshed_at)}


def not_signed_in() -> Json:
    return {"api_version": VERSION, "auth": 0}


def group_json(group: Group) -> Json:
    return {"id": group.id, "title": group.title}


def feeds_groups(groups: Iterable[Group]) -> list[Json]:
    return [{"group_id": group.id, "feed_ids": joined(group.feed_ids)} for group in groups if group.feed_ids]


def feed_json(id: int, title: str, url: str, site_url: str, updated_at: datetime | None) -> Json:
    return {
        "id": id,
        "favicon_id": 0,
        "title": title,
        "url": url,
        "site_url": http_address(site_url) or url,
        "is_spark": 0,
        "last_updated_on_time": _seconds(updated_at),
    }


def item_json(item: Item) -> Json:
    return {
        "id": item.id,
        "feed_id": item.feed_id,
        "title": item.title,
        "author": item.author,
        "html": item.html,
        "url": http_address(item.url),
        "is_saved": int(item.starred),
        "is_read": int(not item.unread),
        "created_on_time": _seconds(item.published_at),
    }


def link_json(link: Link) -> Json:
    """A degree for each source that tells the story."""
    return {
        "id": link.id,
        "feed_id": link.item.feed_id,
        "item_id": link.item.id,
        "temperature": round(BODY_HEAT + link.sources, 1),
        "is_item": 1,
        "is_local": 1,
        "is_saved": int(link.item.starred),
        "title": link.item.title,
        "url": http_address(link.item.url),
        "item_ids": joined(link.item_ids),
    }


def joined(ids: Iterable[int]) -> str:
    """
    >>> joined([3, 4])
    '3,4'
    """
    return ",".join(map(str, ids))


def read_ids(said: str) -> list[int]:
    """At most fifty numbers with commas between them.

    >>> read_ids("3, 4,")
    [3, 4]
    """
    ids = [whole("with_ids", word.strip()) for word in said.split(",") if word.strip()]
    if len(ids) > MAX_ITEMS:
        raise BadRequest(f"“with_ids” names {len(ids):,} items; at most {MAX_ITEMS} are given at once.")
    return ids


def _seconds(at: datetime | None) -> int:
    return int(at.timestamp()) if at else 0
