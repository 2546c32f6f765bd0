"""Recommendations for a user with reasons, and their data: follows and reading."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, zip_longest
from typing import Literal, NamedTuple

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_as
from apps.following import queries as following
from apps.recommendations.algorithms.likelihood import RISING
from apps.recommendations.models import Dismissal, Growth
from apps.sources import queries as sources
from apps.sources.models import Source

IntArray = NDArray[np.int64]

MAX_PEOPLE = 20_000  # a fixed random sample of users
MAX_FOLLOWS = 500  # per user, the newest: following everything carries no information

Kind = Literal["followers", "rising"]


def offered() -> QuerySet[Source]:
    """Sources that may be recommended."""
    return sources.listed().filter(state=Source.State.ACTIVE)


_FOLLOWS = """
SELECT user_id, source_id FROM (
    SELECT user_id, source_id, row_number() OVER (PARTITION BY user_id ORDER BY followed_at DESC, id DESC) AS place
    FROM following_follow WHERE NOT muted AND user_id IN (
        SELECT id FROM accounts_user WHERE is_active ORDER BY md5(id::text) LIMIT %s)
) follow WHERE place <= %s ORDER BY user_id, source_id
"""


def follows() -> tuple[IntArray, IntArray]:
    """User ids and source ids of follows, as parallel arrays."""
    rows = np.array(list(fetch(_FOLLOWS, [MAX_PEOPLE, MAX_FOLLOWS])), np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


class Counts(NamedTuple):
    """Events of a source in the last seven days and in the seven before."""

    source_id: int
    followed: int
    followed_before: int
    opened: int  # people
    opened_before: int


_COUNTS = """
SELECT source_id, sum(followed)::int AS followed, sum(followed_before)::int AS followed_before,
    sum(opened)::int AS opened, sum(opened_before)::int AS opened_before
FROM (
    SELECT source_id, count(*) FILTER (WHERE followed_at > %(recent)s) AS followed,
        count(*) FILTER (WHERE followed_at <= %(recent)s) AS followed_before, 0 AS opened, 0 AS opened_before
    FROM following_follow WHERE followed_at > %(before)s AND followed_at <= %(now)s GROUP BY source_id
    UNION ALL
    SELECT source_id, 0, 0, count(DISTINCT user_id) FILTER (WHERE opened_at > %(recent)s),
        count(DISTINCT user_id) FILTER (WHERE opened_at <= %(recent)s)
    FROM stories_reaction JOIN postings_posting posting ON posting.id = posting_id
    WHERE opened_at > %(before)s AND opened_at <= %(now)s GROUP BY source_id
) counted GROUP BY source_id ORDER BY source_id
"""


def counts(now: datetime, period: timedelta) -> list[Counts]:
    return fetch_as(Counts, _COUNTS, {"now": now, "recent": now - period, "before": now - 2 * period})


def risen(source_ids: Collection[int]) -> set[int]:
    """Those of the sources that are followed and read more than before."""
    return set(Growth.objects.filter(source__in=source_ids, value__gte=RISING).values_list("source_id", flat=True))


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a source is recommended."""

    source_id: int
    kind: Kind
    count: int = 0  # common followers, or new followers of this week
    about: str = ""  # the source that they follow, too
    readers: int = 0  # of this week


class Recommendation(NamedTuple):
    source: Source  # with `followers`
    reason: Reason


def recommended(user: User, most: int) -> list[Recommendation]:
    """Sources that a user may like, in turn by common followers and rising ones. Three queries.

    Followed and dismissed sources are left out.
    """
    by_followers = fetch_as(partial(Reason, kind="followers"), _BY_FOLLOWERS, {"user": user.pk, "most": most})
    kinds: list[Sequence[Reason]] = [by_followers, _rising(_new_to(user), most)]
    reasons: dict[int, Reason] = {}
    for reason in chain.from_iterable(zip_longest(*kinds)):
        if reason is not None and len(reasons) < most:
            reasons.setdefault(reason.source_id, reason)
    return list(_with_sources(reasons.values()))


def rising(user: User | AnonymousUser, most: int) -> list[Recommendation]:
    """Sources that are followed and read more than before, for a signed-in user only new ones. Two queries."""
    return list(_with_sources(_rising(_new_to(user), most)))


def _new_to(user: User | AnonymousUser) -> QuerySet[Source]:
    found = offered()
    if not user.is_authenticated:
        return found
    dismissed = Dismissal.objects.filter(user=user).values("source_id")
    return found.exclude(pk__in=following.follows_of(user).values("source_id")).exclude(pk__in=dismissed)


# Of all followed sources that lead to a source, the most similar one is named.
_BY_FOLLOWERS = """
SELECT other_id AS source_id, shared AS count, about FROM (
    SELECT DISTINCT ON (likeness.other_id) likeness.other_id, likeness.shared,
        sum(likeness.value) OVER (PARTITION BY likeness.other_id) AS total,
        coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS about
    FROM following_follow follow
    JOIN recommendations_likeness likeness ON likeness.source_id = follow.source_id
    JOIN sources_source source ON source.id = follow.source_id
    JOIN sources_source other ON other.id = likeness.other_id
        AND other.listed AND other.state = 'active' AND other.site_id IS NULL
    WHERE follow.user_id = %(user)s AND NOT follow.muted
        AND NOT EXISTS (SELECT FROM following_follow own WHERE own.user_id = %(user)s AND own.source_id = other.id)
        AND NOT EXISTS (
            SELECT FROM recommendations_dismissal gone WHERE gone.user_id = %(user)s AND gone.source_id = other.id)
    ORDER BY likeness.other_id, likeness.value DESC, likeness.source_id
) found ORDER BY total DESC, other_id LIMIT %(most)s
"""


def _rising(among: QuerySet[Source], most: int) -> list[Reason]:
    found = Growth.objects.filter(value__gte=RISING, source__in=among.values("pk")).order_by("-value", "source_id")
    rows = found.only("gained", "opened")[:most]
    return [Reason(row.source_id, "rising", count=row.gained, readers=row.opened) for row in rows]


def _with_sources(reasons: Iterable[Reason]) -> Iterator[Recommendation]:
    wanted = list(reasons)
    counted = following.with_follower_counts(Source.objects.filter(pk__in=[each.source_id for each in wanted]))
    by_id = {source.pk: source for source in counted}
    return (Recommendation(by_id[each.source_id], each) for each in wanted if each.source_id in by_id)
