"""Recommendations for a user, with reasons."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest
from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.statements import fetch_as
from apps.following import queries as following
from apps.recommendations.algorithms.growth import RISING
from apps.recommendations.models import Dismissal, Growth, Match
from apps.recommendations.queries.records import offered
from apps.sources.models import Source

Kind = Literal["followers", "reading", "rising"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a source is recommended."""

    source_id: int
    kind: Kind
    count: int = 0  # common followers, or new followers of this week
    about: str = ""  # the source that they follow, too
    words: tuple[str, ...] = ()  # from the user's reading
    readers: int = 0  # of this week


@dataclass(frozen=True, slots=True)
class Recommendation:
    source: Source  # with `followers`
    reason: Reason


def recommended(user: User, most: int) -> list[Recommendation]:
    """Sources that a user may like, in turn by common followers, by reading, and rising ones. Four queries.

    Followed and dismissed sources are left out.
    """
    kinds: list[Sequence[Reason]] = [_by_followers(user, most), _by_reading(user, most), _rising(_new_to(user), most)]
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


def _by_followers(user: User, most: int) -> list[Reason]:
    return fetch_as(partial(Reason, kind="followers"), _BY_FOLLOWERS, {"user": user.pk, "most": most})


def _by_reading(user: User, most: int) -> list[Reason]:
    known = Match.objects.filter(user=user, user__taste__is_on=True, user__taste__weight__gt=0)
    found = known.filter(source__in=_new_to(user).values("pk")).order_by("-value", "source_id")
    return [Reason(id, "reading", words=tuple(words)) for id, words in found.values_list("source_id", "words")[:most]]


def _rising(among: QuerySet[Source], most: int) -> list[Reason]:
    found = Growth.objects.filter(value__gte=RISING, source__in=among.values("pk")).order_by("-value", "source_id")
    rows = found.only("gained", "opened")[:most]
    return [Reason(row.source_id, "rising", count=row.gained, readers=row.opened) for row in rows]


def _with_sources(reasons: Iterable[Reason]) -> Iterator[Recommendation]:
    wanted = list(reasons)
    counted = following.with_follower_counts(Source.objects.filter(pk__in=[each.source_id for each in wanted]))
    by_id = {source.pk: source for source in counted}
    return (Recommendation(by_id[each.source_id], each) for each in wanted if each.source_id in by_id)
