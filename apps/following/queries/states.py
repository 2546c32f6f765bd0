"""Read and unread states, as defined by `Follow`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import BooleanField, Case, CharField, F, FilteredRelation, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, NullIf

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_rows
from apps.following.queries.copies import READ_BY_COPY, folds, read_by_copy
from apps.postings.models import Posting

# Whether a posting without a mark is unread.
NEW = "posting.id > follow.read_through AND posting.published_at >= follow.unread_from"

# Postings of each source above `read_through`, by an index-only scan; `NEW` has to be tested as well. OFFSET 0 keeps
# Postgres from scanning everything published since `unread_from`. The follow's id among the columns prevents a Memoize
# node, which would never hit.
ARRIVED = """CROSS JOIN LATERAL (
    SELECT follow.id AS follow_id, posting.id, published_at, retrieved_at, first_copy
    FROM postings_posting AS posting
    WHERE posting.source_id = follow.source_id AND posting.id > follow.read_through OFFSET 0
) AS posting"""

# `with_state` and `readable_by` for raw statements, of `posting` and %(user)s; visitors have id 0.
OWN = """JOIN sources_source source ON source.id = posting.source_id
LEFT JOIN following_follow follow ON follow.source_id = posting.source_id AND follow.user_id = %(user)s
LEFT JOIN following_mark mark ON mark.posting_id = posting.id AND mark.user_id = %(user)s"""
UNREAD = f"(coalesce(NOT mark.read, {NEW}, false) AND NOT {READ_BY_COPY})"
STARRED = "mark.starred_at IS NOT NULL"
READABLE = f"(source.listed OR follow.id IS NOT NULL OR {STARRED})"


def with_state(postings: QuerySet[Posting], user: User | AnonymousUser) -> QuerySet[Posting]:
    """Annotate `unread` and `starred` for a user. To visitors everything is read."""
    if not user.is_authenticated:
        return postings.annotate(
            unread=Value(False, output_field=BooleanField()), starred=Value(False, output_field=BooleanField())
        )
    is_new = Q(pk__gt=F("my_follow__read_through"), published_at__gte=F("my_follow__unread_from"))
    return postings.annotate(
        my_mark=FilteredRelation("marks", condition=Q(marks__user=user)),
        my_follow=FilteredRelation("source__follows", condition=Q(source__follows__user=user)),
        unread=Case(
            When(my_mark__read=True, then=Value(False)),
            When(read_by_copy(user), then=Value(False)),
            When(my_mark__read=False, then=Value(True)),
            When(is_new, then=Value(True)),
            default=Value(False),
        ),
        starred=Case(When(my_mark__starred_at__isnull=False, then=Value(True)), default=Value(False)),
    )


def first_nonempty(*columns: str) -> Coalesce:
    """The first text among columns that is not empty, such as a source's title for a user."""
    return Coalesce(*(NullIf(F(column), Value("")) for column in columns), output_field=CharField())


def unread(postings: QuerySet[Posting], user: User) -> QuerySet[Posting]:
    return with_state(postings, user).filter(Q(unread=True))


# Two halves, so that each scans only what it needs: unread arrivals source by source, and older postings marked unread.
_UNREAD_COUNTS = f"""
SELECT source_id, count(*) FILTER (WHERE first_copy IS NULL) AS single,
    array_agg(first_copy) FILTER (WHERE first_copy IS NOT NULL) AS copied
FROM (
    SELECT follow.source_id, posting.id, posting.first_copy
    FROM following_follow AS follow {ARRIVED}
    WHERE follow.user_id = %(user)s AND {NEW} AND NOT EXISTS (
        SELECT FROM following_mark AS mark
        WHERE mark.user_id = %(user)s AND mark.posting_id = posting.id AND mark.read)
    UNION ALL
    SELECT follow.source_id, posting.id, posting.first_copy
    FROM following_mark AS mark
    JOIN postings_posting AS posting ON posting.id = mark.posting_id
    JOIN following_follow AS follow ON follow.source_id = posting.source_id AND follow.user_id = mark.user_id
    WHERE mark.user_id = %(user)s AND NOT mark.read AND NOT ({NEW})
) AS posting
WHERE NOT {READ_BY_COPY}
GROUP BY source_id
"""


def unread_counts(user: User) -> dict[int, int]:
    """The number of unread postings of each followed source that has any. One query."""
    return {row.source_id: row.single + len(row.copied or ()) for row in _counted(user)}


@dataclass(frozen=True, slots=True)
class Unread:
    """What is unread in a list."""

    single: int = 0  # postings without copies
    articles: frozenset[int] = frozenset()  # the first copies of the others

    @property
    def count(self) -> int:
        return self.single + len(self.articles)

    @classmethod
    def of_all(cls, parts: Iterable["Unread"]) -> "Unread":
        """Of several sources together."""
        known = list(parts)
        return cls(sum(part.single for part in known), frozenset().union(*(part.articles for part in known)))


def unread_articles(user: User) -> dict[int, Unread]:
    """What is unread in each followed source that has any, for counts of articles as lists show them. One query."""
    if not folds(user):
        return {source_id: Unread(count) for source_id, count in unread_counts(user).items()}
    return {row.source_id: Unread(row.single, frozenset(row.copied or ())) for row in _counted(user)}


_READ_ELSEWHERE = f"""
SELECT posting.id FROM following_follow follow {ARRIVED}
WHERE follow.user_id = %(user)s AND {READ_BY_COPY}
UNION
SELECT posting.id FROM following_mark mark JOIN postings_posting posting ON posting.id = mark.posting_id
WHERE mark.user_id = %(user)s AND NOT mark.read AND {READ_BY_COPY}
"""


def read_elsewhere(user: User) -> list[int]:
    """Postings that would be unread, had not the user read a copy of them; and some that are read. One query."""
    return [posting_id for (posting_id,) in fetch(_READ_ELSEWHERE, {"user": user.pk})]


def _counted(user: User) -> list[Any]:
    return fetch_rows(_UNREAD_COUNTS, {"user": user.pk})
