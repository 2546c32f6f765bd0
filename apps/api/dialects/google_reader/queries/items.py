"""Postings as items of the person who asks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from apps.accounts.models import User
from apps.api.dialects.google_reader.formats.items import BROADCAST, FRESH, KEPT_UNREAD, READ, STARRED, Item
from apps.api.dialects.google_reader.formats.streams import READING_LIST, Stream
from apps.database.statements import among
from apps.following import queries as following
from apps.sources.algorithms.addresses import absolute
from apps.sources.formats.feed import Enclosure

_OF_POSTING = (
    *("title", "url", "author", "html", "guid", "enclosures", "published_at", "edited_at", "retrieved_at"),
    *("source_id", "source__title", "source__url", "source__site_url"),
)
_OF_PERSON = ("unread", "starred", "my_mark__read", "my_follow__title", "my_follow__muted")


def items(user: User, ids: Sequence[int], labels: Mapping[int, Sequence[str]]) -> list[Item]:
    """The postings that the person may open, in the order of the ids. Three queries.

    Parameters
    ----------
    labels : mapping of int to sequence of str
        Of the folders that each source lies in.
    """
    readable = following.with_state(following.readable_by(user).filter(pk__in=among(ids)), user)
    rows = {row.pop("pk"): row for row in readable.values("pk", *_OF_POSTING, *_OF_PERSON)}
    tags = following.tags_by_posting(user, rows)
    shared = set(following.shares_of(user).filter(posting__in=among(rows)).values_list("posting_id", flat=True))
    return [
        _item(pk, rows[pk], [*labels.get(rows[pk]["source_id"], ()), *tags.get(pk, ())], pk in shared)
        for pk in dict.fromkeys(ids)
        if pk in rows
    ]


def _item(pk: int, row: Mapping[str, Any], labels: Collection[str], is_shared: bool) -> Item:
    return Item(
        id=pk,
        title=row["title"],
        url=absolute(row["url"]),
        author=row["author"],
        html=row["html"],
        guid=row["guid"],
        enclosures=tuple(Enclosure(**told) for told in row["enclosures"] if absolute(told["url"])),
        published_at=row["published_at"],
        updated_at=max(row["edited_at"] or row["published_at"], row["published_at"]),
        retrieved_at=row["retrieved_at"],
        feed_id=row["source_id"],
        starred=row["starred"],
        unread=row["unread"],
        source_title=row["my_follow__title"] or row["source__title"] or row["source__url"],
        site_url=absolute(row["source__site_url"]),
        categories=(*_states(row, is_shared), *(Stream("label", label) for label in dict.fromkeys(labels))),
    )


def _states(row: Mapping[str, Any], is_shared: bool) -> list[Stream]:
    states = [READING_LIST] if row["my_follow__muted"] is False else []
    if not row["unread"]:
        states.append(READ)
    else:
        states.append(FRESH if row["my_mark__read"] is None else KEPT_UNREAD)
    if row["starred"]:
        states.append(STARRED)
    if is_shared:
        states.append(BROADCAST)
    return states
