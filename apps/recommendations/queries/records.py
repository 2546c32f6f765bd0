"""The data of recommendations: follows, reading, and the newest postings of sources."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db.models import F, Q, QuerySet
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_as, fetch_rows
from apps.recommendations.algorithms.sketches import Sketch as Terms
from apps.recommendations.models import Sketch
from apps.sources import queries as sources
from apps.sources.models import Source

IntArray = NDArray[np.int64]

MAX_PEOPLE = 20_000  # a fixed random sample of users
MAX_FOLLOWS = 500  # of a user, the newest: following everything carries no information
POSTINGS_READ = 30  # of a source, the newest
POSTINGS_EXPLAINED = 5  # of a source, searched for characteristic words
READ_AGAIN_AFTER = timedelta(days=1)
MIN_KNOWN = 5.0  # weight of a user's taste


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


def unsketched(now: datetime, limit: int) -> list[int]:
    """Sources without a recent sketch that may be recommended, those without any first."""
    old = Q(sketch=None) | Q(sketch__read_at__lt=now - READ_AGAIN_AFTER)
    found = offered().filter(old).order_by(F("sketch__read_at").asc(nulls_first=True), "pk")
    return list(found.values_list("pk", flat=True)[:limit])


_NEWEST = """
SELECT source.id, newest.id AS posting_id FROM unnest(%s::bigint[]) source (id), LATERAL (
    SELECT posting.id FROM postings_posting posting WHERE posting.source_id = source.id
    ORDER BY published_at DESC, posting.id DESC LIMIT %s
) newest
"""


def newest_of(source_ids: Collection[int]) -> dict[int, list[int]]:
    """The newest postings of each source."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for source_id, posting_id in fetch(_NEWEST, [list(source_ids), POSTINGS_READ]):
        found[source_id].append(posting_id)
    return dict(found)


def sketches() -> dict[int, Terms]:
    """Sketches of the sources that may be recommended."""
    rows = Sketch.objects.filter(source__in=offered().values("pk")).only("terms", "counts")
    return {
        row.source_id: Terms(
            np.frombuffer(row.terms, "<i4").astype(np.int32), np.frombuffer(row.counts, "<f4").astype(np.float32)
        )
        for row in rows
    }


def unmatched(now: datetime, limit: int) -> list[User]:
    """Users with a known taste and without recent matches, those without any first."""
    old = Q(matched=None) | Q(matched__at__lt=now - READ_AGAIN_AFTER)
    known = User.objects.filter(old, is_active=True, taste__is_on=True, taste__weight__gte=MIN_KNOWN)
    return list(known.order_by(F("matched__at").asc(nulls_first=True), "pk")[:limit])


_TEXTS = """
SELECT source.id AS source_id, newest.words, coalesce(nullif(newest.language, ''), source.language) AS language
FROM sources_source source, LATERAL (
    SELECT title || ' ' || left(text, 600) AS words, language FROM postings_posting posting
    WHERE posting.source_id = source.id ORDER BY published_at DESC, posting.id DESC LIMIT %s
) newest WHERE source.id = ANY(%s)
"""


def texts_of(source_ids: Collection[int]) -> dict[int, list[tuple[str, str]]]:
    """The beginnings of the newest postings of sources, and their languages. One query."""
    found: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in fetch_rows(_TEXTS, [POSTINGS_EXPLAINED, list(source_ids)]):
        found[row.source_id].append((row.words, row.language))
    return dict(found)
