"""Postings as items of a user."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import F

from apps.accounts.models import User
from apps.api.dialects.google_reader.formats.items import BROADCAST, FRESH, KEPT_UNREAD, READ, STARRED, Item
from apps.api.dialects.google_reader.formats.streams import READING_LIST, Stream
from apps.database.statements import among
from apps.following import queries as following
from apps.sources.algorithms.addresses import absolute
from apps.sources.formats.feed import Enclosure

_COLUMNS = (
    *("id", "title", "url", "author", "html", "guid", "enclosures", "published_at", "edited_at", "retrieved_at"),
    *("unread", "starred", "my_mark__read", "my_follow__muted"),
)


def items(user: User, ids: Sequence[int], labels: Mapping[int, Sequence[str]]) -> list[Item]:
    """The readable postings, in the order of the ids. `labels` are those of folders, by source. Three queries."""
    readable = following.with_state(following.readable_by(user).filter(pk__in=among(ids)), user)
    found = readable.values(
        *_COLUMNS,
        feed_id=F("source_id"),
        site_url=F("source__site_url"),
        source_title=following.first_nonempty("my_follow__title", "source__title", "source__url"),
    )
    rows = {row["id"]: row for row in found}
    tags = following.tags_by_posting(user, rows)
    shared = set(following.shares_of(user).filter(posting__in=among(rows)).values_list("posting_id", flat=True))
    return [
        _item(rows[id], [*labels.get(rows[id]["feed_id"], ()), *tags.get(id, ())], id in shared)
        for id in dict.fromkeys(ids)
        if id in rows
    ]


def _item(row: dict[str, Any], labels: Collection[str], is_shared: bool) -> Item:
    states = _states(row, row.pop("my_mark__read"), row.pop("my_follow__muted"), is_shared)
    edited_at, published_at = row.pop("edited_at"), row["published_at"]
    row |= {name: absolute(row[name]) for name in ("url", "site_url")}
    row["enclosures"] = tuple(Enclosure(**each) for each in row["enclosures"] if absolute(each["url"]))
    labelled = (Stream("label", label) for label in dict.fromkeys(labels))
    return Item(**row, updated_at=max(edited_at or published_at, published_at), categories=(*states, *labelled))


def _states(row: Mapping[str, Any], marked_read: bool | None, muted: bool | None, is_shared: bool) -> list[Stream]:
    unread = FRESH if marked_read is None else KEPT_UNREAD
    states = [READING_LIST] if muted is False else []
    states.append(unread if row["unread"] else READ)
    if row["starred"]:
        states.append(STARRED)
    if is_shared:
        states.append(BROADCAST)
    return states
