"""Postings that a program may read and change: those of followed sources, and starred ones."""

from collections.abc import Collection

from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import User
from apps.database.statements import MAX_ID, fetch
from apps.following import queries as following
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.models import Posting


def own(user: User) -> QuerySet[Posting]:
    # EXISTS is evaluated per posting; IN would collect all of them first.
    follow = following.follows_of(user).filter(source=OuterRef("source_id"))
    starred = following.stars_of(user).filter(posting=OuterRef("pk"))
    return postings.everything().filter(Exists(follow) | Exists(starred))


def own_ids(user: User, posting_ids: Collection[int]) -> list[int]:
    """Those of the postings that are in `own`, in ascending order."""
    return list(own(user).filter(pk__in=posting_ids).order_by("pk").values_list("pk", flat=True))


def starred_ids(user: User, most: int) -> list[int]:
    """Starred postings, the latest first."""
    return list(following.stars_of(user).order_by("-starred_at").values_list("posting_id", flat=True)[:most])


def posting_counts(user: User, scope: Scope) -> dict[int, int]:
    """The number of postings of each followed source of a list that has any. Two queries."""
    return dict(fetch(_COUNTS, [list(following.follows_in(user, scope).values_list("source_id", flat=True))]))


_COUNTS = "SELECT source_id, count(*) FROM postings_posting WHERE source_id = ANY(%s) GROUP BY source_id"

# Source by source, because no index orders the ids of several sources.
_NUMBERED = """
SELECT posting.id FROM unnest(%(sources)s::bigint[]) mine (source_id) CROSS JOIN LATERAL (
    SELECT id FROM postings_posting posting
    WHERE posting.source_id = mine.source_id AND id > %(after)s AND id < %(before)s ORDER BY id {down} LIMIT %(limit)s
) posting ORDER BY id {down} LIMIT %(limit)s
"""


def numbered(
    user: User, scope: Scope, *, after: int = 0, before: int = MAX_ID, highest_first: bool = False, limit: int
) -> list[int]:
    """The first `limit` postings of a list between two ids, ordered by id. Two queries."""
    sources = list(following.follows_in(user, scope).values_list("source_id", flat=True))
    statement = _NUMBERED.format(down="DESC" if highest_first else "")
    named = {"sources": sources, "after": after, "before": before, "limit": limit}
    return [posting_id for (posting_id,) in fetch(statement, named)]
