"""Reads of hits and their delays. All are fast with a million hits in the table."""

from datetime import datetime, timedelta
from typing import NamedTuple

from apps.accounts.models import User
from apps.alerts.models import Hit
from apps.database.statements import fetch, fetch_as
from apps.search.models import SavedSearch

MAX_COUNTED = 1_000  # hits per search
MAX_HITS_READ = 10_000  # newest hits per search, to find the sources that serve it
LATELY = timedelta(days=30)
BACKLOG = timedelta(days=7)  # a longer delay means that the posting was older than the first retrieval


def hits_of(saved: SavedSearch, before: int | None, limit: int) -> list[Hit]:
    """The newest hits with postings and sources, by arrival of the postings; after the hit with id `before`."""
    hits = Hit.objects.filter(saved=saved)
    if before is not None:
        hits = hits.filter(posting_id__lt=Hit.objects.filter(pk=before).values("posting_id"))
    return list(hits.select_related("posting__source").order_by("-posting_id")[:limit])


_COUNTS = """
SELECT id, (SELECT count(*) FROM (SELECT FROM alerts_hit WHERE saved_id = saved.id LIMIT %s) counted)
FROM search_savedsearch saved WHERE user_id = %s
"""


def count_hits(user: User) -> dict[int, int]:
    """The number of hits of each of the user's searches, counted up to a thousand."""
    return dict(fetch(_COUNTS, [MAX_COUNTED, user.pk]))


class ServingSource(NamedTuple):
    source_id: int
    title: str  # or its address
    hits: int
    median: float  # s from publication to our retrieval
    ninetieth: float  # percentile of them


_SOURCES = """
WITH newest AS MATERIALIZED (
    SELECT source_id, found_at, retrieved_at - published_at AS delay FROM alerts_hit WHERE saved_id = %s
    ORDER BY posting_id DESC LIMIT %s
), serving AS (
    SELECT source_id, count(*) AS hits,
        percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY extract(epoch FROM delay)::float) AS delays
    FROM newest WHERE delay <= %s AND found_at >= %s GROUP BY source_id
)
SELECT source_id, coalesce(nullif(title, ''), url) AS title, hits, delays[1] AS median, delays[2] AS ninetieth
FROM serving JOIN sources_source source ON source.id = source_id ORDER BY hits DESC, source_id
"""


def sources_of(saved: SavedSearch, now: datetime) -> list[ServingSource]:
    """The sources that served the search in the last 30 days, by its newest 10,000 hits without backlogs."""
    values = [saved.pk, MAX_HITS_READ, BACKLOG, now - LATELY]
    return fetch_as(ServingSource, _SOURCES, values)
