"""Entries of Miniflux' API: postings of followed sources, and starred ones."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Greatest, Left, Length

from apps.accounts.models import User
from apps.api.formats.schemas import Feed
from apps.api.queries import feeds as followed
from apps.api.queries.feeds import numbered, own, posting_counts
from apps.database.statement_timeout import statement_timeout
from apps.database.statements import MAX_ID
from apps.following import queries as following
from apps.following.models import Playback
from apps.following.queries import Scope
from apps.following.queries.listing import WALKED, positions
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.search import queries as searching
from apps.search.algorithms.language import narrowed, parse
from apps.summaries.algorithms.reading_time import reading_minutes
from apps.web.pages.rows import article_for_programs
from extensions.dialects.miniflux.formats.parameters import EntryFilter
from extensions.dialects.miniflux.formats.responses import MAX_ENCLOSURES, Entry

MAX_STATEMENT_SECONDS = 10.0  # lists without filters take a hundredth of it
FARTHEST_LISTED = WALKED  # postings from the top of a list; beyond, its fast half never finds enough
AT_ONCE = 100  # entries in memory with their texts
_SAMPLE = 320  # characters of a text, for estimating its words


def find(user: User, criteria: EntryFilter, scope: Scope, now: datetime) -> tuple[int, list[int]]:
    """The number of entries of a list that match, and the ids of a page. At most six queries without a search.

    Raises BadQuery for an invalid search, TooCostly for a slow one, and TookTooLong for other slow statements.
    """
    if criteria.states == {"removed"}:
        return 0, []
    matching = _matching(user, criteria, scope, now) if criteria.search else None
    with statement_timeout(MAX_STATEMENT_SECONDS):
        end = criteria.offset + criteria.limit
        ids = _ids_by_list(user, criteria, scope, end) if end <= FARTHEST_LISTED else None
        if ids is not None:
            return len(ids) if _is_whole(criteria, ids) else _total(user, criteria, scope), ids
        found = _found(user, criteria, scope, matching)
        ids = list(_ordered(found, criteria).values_list("pk", flat=True)[criteria.offset : end])
        return len(ids) if _is_whole(criteria, ids) else found.count(), ids


def _ids_by_list(user: User, criteria: EntryFilter, scope: Scope, end: int) -> list[int] | None:
    """The ids of a page by a fast list of the portal; None if there is none."""
    if criteria.is_plain:
        unread_only, oldest_first = not criteria.wants_all, criteria.oldest_first
        places = positions(user, scope, unread_only=unread_only, oldest_first=oldest_first, limit=end)
        ids = [place.id for place in places]
    elif criteria.is_by_id:
        after, before = criteria.after_id or 0, criteria.before_id or MAX_ID
        highest_first = not criteria.oldest_first
        ids = numbered(user, scope, after=after, before=before, highest_first=highest_first, limit=end)
    else:
        return None
    return ids[criteria.offset :]


def _is_whole(criteria: EntryFilter, ids: Sequence[int]) -> bool:
    """Whether the page contains all that there is."""
    return criteria.offset == 0 and len(ids) < criteria.limit


def _total(user: User, criteria: EntryFilter, scope: Scope) -> int:
    if criteria.after_id or criteria.before_id or (scope.kind == "source" and not criteria.wants_all):
        return _found(user, criteria, scope, None).count()
    if criteria.wants_all:
        return sum(posting_counts(user, scope).values())
    counts = following.unread_counts(user)
    return sum(counts.get(id, 0) for id in following.follows_in(user, scope).values_list("source_id", flat=True))


def _matching(user: User, criteria: EntryFilter, scope: Scope, now: datetime) -> list[int]:
    """The newest thousand of the list's postings that match a search."""
    tree = parse(criteria.search)
    if criteria.states == {"unread"}:
        tree = narrowed(tree, "is", "unread")
    if criteria.starred:
        tree = narrowed(tree, "is", "starred")
    everywhere = criteria.starred and scope.kind == "all"
    sources = None if everywhere else set(following.follows_in(user, scope).values_list("source_id", flat=True))
    return searching.matching(user, tree, now=now, source_ids=sources)


def _found(user: User, criteria: EntryFilter, scope: Scope, matching: Collection[int] | None) -> QuerySet[Posting]:
    found = postings.everything()
    if criteria.starred:
        found = following.postings_in(user, Scope("starred"))
    if not criteria.starred or scope.kind != "all":
        found = found.filter(source_id__in=following.follows_in(user, scope).values("source_id"))
    found = following.with_state(found, user)
    if matching is not None:
        found = found.filter(pk__in=matching)
    if criteria.starred is False:
        found = found.filter(Q(starred=False))
    if not criteria.wants_all:
        found = found.filter(Q(unread="unread" in criteria.states))
    bounds = {
        "published_at__gt": criteria.published_after,
        "published_at__lt": criteria.published_before,
        "pk__gt": criteria.after_id,
        "pk__lt": criteria.before_id,
    }
    found = found.filter(**{name: bound for name, bound in bounds.items() if bound is not None})
    if criteria.changed_after is not None:
        found = found.filter(_changed_after(user, criteria.changed_after))
    if criteria.changed_before is not None:
        found = found.filter(_changed_before(user, criteria.changed_before))
    return found


# --- times of change --------------------------------------------------------------------------------------------------
_MARKED_SINCE = """
SELECT posting.id FROM following_markedall marked
CROSS JOIN LATERAL unnest(marked.follows, marked.moved_from, marked.moved_to) whole (follow_id, above, through)
JOIN following_follow follow ON follow.id = whole.follow_id
JOIN postings_posting posting ON posting.source_id = follow.source_id AND posting.id > above AND posting.id <= through
WHERE marked.user_id = %s AND marked_at {comparison} %s
"""


def _changed_after(user: User, at: datetime) -> Q:
    """Arrived, marked, or marked read with a list since; marked lists are known for a day."""
    with_list = RawSQL(_MARKED_SINCE.format(comparison=">"), [user.pk, at])
    return Q(retrieved_at__gt=at) | Q(my_mark__changed_at__gt=at) | Q(pk__in=with_list)


def _changed_before(user: User, at: datetime) -> Q:
    with_list = RawSQL(_MARKED_SINCE.format(comparison=">="), [user.pk, at])
    singly = Q(my_mark__changed_at=None) | Q(my_mark__changed_at__lt=at)
    return Q(retrieved_at__lt=at) & singly & ~Q(pk__in=with_list)


_CHANGED_AT = Greatest("retrieved_at", "my_mark__changed_at")


# --- orders -----------------------------------------------------------------------------------------------------------
_COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ["pk"],
    "published_at": ["published_at", "pk"],
    "created_at": ["retrieved_at", "pk"],
    "changed_at": ["changed", "pk"],
    "status": ["unread", "published_at", "pk"],  # "read" comes before "unread"
    "title": ["title", "pk"],
    "author": ["author", "pk"],
}


def _ordered(found: QuerySet[Posting], criteria: EntryFilter) -> QuerySet[Posting]:
    if criteria.order == "changed_at":
        found = found.annotate(changed=_CHANGED_AT)
    return found.order_by(*(column if criteria.oldest_first else f"-{column}" for column in _COLUMNS[criteria.order]))


# --- entries ----------------------------------------------------------------------------------------------------------
def feeds_of(user: User, posting_ids: Collection[int]) -> dict[int, Feed]:
    """The feeds of postings, by id. Four queries."""
    sources = set(postings.everything().filter(pk__in=posting_ids).values_list("source_id", flat=True))
    return {feed.id: feed for feed in followed.feeds(user, sources)}


def entries(user: User, posting_ids: Sequence[int]) -> Iterator[Entry]:
    """The user's postings among these, in the given order. Three queries per hundred."""
    for start in range(0, len(posting_ids), AT_ONCE):
        yield from _entries(user, posting_ids[start : start + AT_ONCE])


def entry(user: User, posting_id: int) -> Entry | None:
    return next(entries(user, [posting_id]), None)


def _entries(user: User, posting_ids: Sequence[int]) -> list[Entry]:
    found = following.with_state(own(user), user).filter(pk__in=posting_ids)
    rows = {row["id"]: row | {"html": article_for_programs(user, row["html"])} for row in _rows(found)}
    marked_at = following.marked_all_at(user, list(rows))
    played = {
        playback.posting_id: (playback.address, playback.seconds)
        for playback in Playback.objects.filter(user=user, posting_id__in=rows).only("posting_id", "address", "seconds")
    }
    return [
        _entry(rows[id], marked_at.get(id), played.get(id, ("", 0.0)))
        for id in dict.fromkeys(posting_ids)
        if id in rows
    ]


def _rows(found: QuerySet[Posting]) -> list[dict[str, Any]]:
    columns = (
        *("id", "url", "title", "author", "html", "comments_url", "identity", "categories", "enclosures"),
        *("published_at", "retrieved_at", "unread", "starred"),
    )
    derived = {"sample": Left("text", _SAMPLE), "characters": Length("text")}
    return list(found.values(*columns, feed_id=F("source_id"), changed_at=_CHANGED_AT, **derived))


def _entry(row: dict[str, Any], list_marked_at: datetime | None, playback: tuple[str, float]) -> Entry:
    row["minutes"] = reading_minutes(row.pop("sample"), row.pop("characters"))
    row["identity"] = bytes(row["identity"]).hex()
    row["enclosures"] = row["enclosures"][:MAX_ENCLOSURES]
    row["changed_at"] = max(row["changed_at"], list_marked_at or row["changed_at"])
    return Entry(**row, playback=playback)
