"""Entries as Miniflux lists them: postings of what a person follows, and what they starred of anything else."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.db.models.expressions import RawSQL
from django.db.models.functions import Greatest, Left, Length

from apps.accounts.models import User
from apps.api.dialects.miniflux.formats.parameters import EntryFilter
from apps.api.dialects.miniflux.formats.responses import MAX_ENCLOSURES
from apps.api.formats.schemas import Category, Entry, Feed
from apps.api.queries import feeds as followed
from apps.api.queries.visible import numbered, own, posting_counts
from apps.database.statement_timeout import statement_timeout
from apps.following import queries as following
from apps.following.models import Playback
from apps.following.queries import Scope
from apps.following.queries.listing import WALKED, listed
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.search import queries as searching
from apps.search.algorithms.language import narrowed, parse
from apps.summaries.algorithms.reading_time import reading_minutes

MAX_STATEMENT_SECONDS = 10.0  # s; what programs ask for without any filter takes a hundredth of it
FARTHEST_LISTED = WALKED  # places from the top of a list; beyond, its quick half never finds enough
AT_ONCE = 100  # entries that are held in memory whole
_SAMPLE = 320  # characters of a text by which its length in words is judged


def find(user: User, asked: EntryFilter, scope: Scope, now: datetime) -> tuple[int, list[int]]:
    """How many entries of a list answer what is asked for, and the ids of those that are to be shown, in their order.

    At most six queries, where nothing is searched for. Raises BadQuery, TooCostly if the search cannot be read, or
    takes too long, and TookTooLong if the rest does.
    """
    if asked.states == {"removed"}:
        return 0, []
    answering = _answering(user, asked, scope, now) if asked.search else None
    with statement_timeout(MAX_STATEMENT_SECONDS):
        farthest = asked.offset + asked.limit
        if asked.is_plain and farthest <= FARTHEST_LISTED:
            ids = listed(
                user,
                scope,
                unread_only=not asked.wants_all,
                oldest_first=asked.oldest_first,
                start=None,
                limit=farthest,
            )[asked.offset :]
            total = len(ids) if _is_whole(asked, ids) else _total(user, asked, scope)
            return total, ids
        if _is_numbered(asked) and farthest <= FARTHEST_LISTED:
            return _numbered(user, asked, scope)
        found = _found(user, asked, scope, answering)
        ids = list(_ordered(user, found, asked).values_list("pk", flat=True)[asked.offset : farthest])
        return len(ids) if _is_whole(asked, ids) else found.count(), ids


def _is_whole(asked: EntryFilter, ids: Sequence[int]) -> bool:
    """Whether what was found is all that there is."""
    return asked.offset == 0 and len(ids) < asked.limit


def _total(user: User, asked: EntryFilter, scope: Scope) -> int:
    if asked.wants_all:
        return sum(posting_counts(user, scope).values())
    if scope.kind == "source":
        return _found(user, asked, scope, None).count()
    counts = following.unread_counts(user)
    return sum(counts.get(id, 0) for id in following.follows_in(user, scope).values_list("source_id", flat=True))


def _is_numbered(asked: EntryFilter) -> bool:
    """Whether all is asked for in the order of its numbers, as programs do that keep a copy."""
    others = (asked.published_after, asked.published_before, asked.changed_after, asked.changed_before, asked.starred)
    return asked.order == "id" and asked.wants_all and not asked.search and all(each is None for each in others)


def _numbered(user: User, asked: EntryFilter, scope: Scope) -> tuple[int, list[int]]:
    after, before = asked.after_id or 0, asked.before_id or 2**63 - 1
    ids = numbered(
        user,
        scope,
        after=after,
        before=before,
        highest_first=not asked.oldest_first,
        limit=asked.offset + asked.limit,
    )[asked.offset :]
    if _is_whole(asked, ids):
        return len(ids), ids
    return _found(user, asked, scope, None).count(), ids


def _answering(user: User, asked: EntryFilter, scope: Scope, now: datetime) -> list[int]:
    """The newest thousand of the list's postings that answer a search."""
    tree = parse(asked.search)
    if asked.states == {"unread"}:
        tree = narrowed(tree, "is", "unread")
    if asked.starred:
        tree = narrowed(tree, "is", "starred")
    everywhere = asked.starred and scope.kind == "all"
    sources = None if everywhere else set(following.follows_in(user, scope).values_list("source_id", flat=True))
    return searching.matching(user, tree, now=now, source_ids=sources)


def _found(user: User, asked: EntryFilter, scope: Scope, answering: Collection[int] | None) -> QuerySet[Posting]:
    found = postings.everything()
    if asked.starred:
        found = following.postings_in(user, Scope("starred"))
    if not asked.starred or scope.kind != "all":
        found = found.filter(source_id__in=following.follows_in(user, scope).values("source_id"))
    found = following.with_state(found, user)
    if answering is not None:
        found = found.filter(pk__in=answering)
    if asked.starred is False:
        found = found.filter(Q(starred=False))
    if not asked.wants_all:
        found = found.filter(Q(unread="unread" in asked.states))
    bounds = {
        "published_at__gt": asked.published_after,
        "published_at__lt": asked.published_before,
        "pk__gt": asked.after_id,
        "pk__lt": asked.before_id,
    }
    found = found.filter(**{name: bound for name, bound in bounds.items() if bound is not None})
    if asked.changed_after is not None:
        found = found.filter(_changed_after(user, asked.changed_after))
    if asked.changed_before is not None:
        found = found.filter(_changed_before(user, asked.changed_before))
    return found


# --- when something changed -------------------------------------------------------------------------------------------
_MARKED_SINCE = """
SELECT posting.id FROM following_markedall marked
CROSS JOIN LATERAL unnest(marked.follows, marked.moved_from, marked.moved_to) whole (follow_id, above, through)
JOIN following_follow follow ON follow.id = whole.follow_id
JOIN postings_posting posting ON posting.source_id = follow.source_id AND posting.id > above AND posting.id <= through
WHERE marked.user_id = %s AND marked_at {comparison} %s
"""


def _changed_after(user: User, at: datetime) -> Q:
    """What came, was marked, or was marked read with its whole list since: of whole lists that is known for a day."""
    with_list = RawSQL(_MARKED_SINCE.format(comparison=">"), [user.pk, at])
    return Q(retrieved_at__gt=at) | Q(my_mark__changed_at__gt=at) | Q(pk__in=with_list)


def _changed_before(user: User, at: datetime) -> Q:
    with_list = RawSQL(_MARKED_SINCE.format(comparison=">="), [user.pk, at])
    by_itself = Q(my_mark__changed_at=None) | Q(my_mark__changed_at__lt=at)
    return Q(retrieved_at__lt=at) & by_itself & ~Q(pk__in=with_list)


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
    "category_id": ["place", "published_at", "pk"],
    "category_title": ["place", "published_at", "pk"],
}


def _ordered(user: User, found: QuerySet[Posting], asked: EntryFilter) -> QuerySet[Posting]:
    if asked.order == "changed_at":
        found = found.annotate(changed=_CHANGED_AT)
    if asked.order in {"category_id", "category_title"}:
        found = found.annotate(place=_place(user, by_title=asked.order == "category_title"))
    return found.order_by(*(column if asked.oldest_first else f"-{column}" for column in _COLUMNS[asked.order]))


def _place(user: User, *, by_title: bool) -> Case:
    """Where a posting's category stands among the others."""
    sources: defaultdict[Category, list[int]] = defaultdict(list)
    for feed in followed.feeds(user):
        sources[feed.category].append(feed.id)
    ordered = sorted(sources, key=lambda category: (category.title if by_title else "", category.id))
    places = [When(source_id__in=sources[category], then=Value(rank)) for rank, category in enumerate(ordered)]
    return Case(*places, default=Value(len(ordered)), output_field=IntegerField())


# --- entries whole ----------------------------------------------------------------------------------------------------
def feeds_of(user: User, posting_ids: Collection[int]) -> dict[int, Feed]:
    """The feeds of some postings. Four queries."""
    sources = set(postings.everything().filter(pk__in=posting_ids).values_list("source_id", flat=True))
    return {feed.id: feed for feed in followed.feeds(user, sources)}


def entries(user: User, posting_ids: Sequence[int]) -> Iterator[Entry]:
    """Those of the postings that are a person's, in the order given. Three queries for each hundred."""
    for start in range(0, len(posting_ids), AT_ONCE):
        yield from _entries(user, posting_ids[start : start + AT_ONCE])


def entry(user: User, posting_id: int) -> Entry | None:
    return next(entries(user, [posting_id]), None)


def _entries(user: User, posting_ids: Sequence[int]) -> list[Entry]:
    found = following.with_state(own(user), user).filter(pk__in=posting_ids)
    rows = {row["pk"]: row for row in _rows(found)}
    whole = following.marked_all_at(user, list(rows))
    heard = {
        place.posting_id: (place.address, place.seconds)
        for place in Playback.objects.filter(user=user, posting_id__in=rows).only("posting_id", "address", "seconds")
    }
    return [
        _entry(rows[id], whole.get(id), heard.get(id, ("", 0.0))) for id in dict.fromkeys(posting_ids) if id in rows
    ]


def _rows(found: QuerySet[Posting]) -> list[dict[str, Any]]:
    return list(
        found.annotate(changed=_CHANGED_AT, sample=Left("text", _SAMPLE), characters=Length("text")).values(
            *("pk", "source_id", "url", "title", "author", "html", "comments_url", "identity", "categories"),
            *("enclosures", "published_at", "retrieved_at", "changed", "unread", "starred", "sample", "characters"),
        )
    )


def _entry(row: Mapping[str, Any], whole_list_at: datetime | None, heard: tuple[str, float]) -> Entry:
    return Entry(
        id=row["pk"],
        feed_id=row["source_id"],
        url=row["url"],
        title=row["title"],
        author=row["author"],
        html=row["html"],
        comments_url=row["comments_url"],
        identity=bytes(row["identity"]).hex(),
        categories=row["categories"],
        enclosures=row["enclosures"][:MAX_ENCLOSURES],
        published_at=row["published_at"],
        retrieved_at=row["retrieved_at"],
        changed_at=max(row["changed"], whole_list_at or row["changed"]),
        unread=row["unread"],
        starred=row["starred"],
        minutes=reading_minutes(row["sample"], row["characters"]),
        heard=heard,
    )
