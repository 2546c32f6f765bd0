"""Rows of the portal about replayed sources."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from django.db.models import Q, QuerySet

from apps.database.statements import fetch
from apps.postings.models import Posting
from apps.retrieval.models import Schedule
from apps.retrieval.queries import requested
from apps.retrieval.reports.lateness import Lateness, lateness_where
from apps.sources.models import Source
from lab.evaluations.replays.verification import Stored
from lab.worlds.addresses import source_of

CHANGES = ("search_outboxrow", "trending_outboxrow", "summaries_outboxrow", "stories_outboxrow", "alerts_outboxrow")
CHUNK = 5_000  # rows in memory


def replayed_sources(port: int) -> dict[int, int]:
    """The number of the replayed source for the id of each portal's source that a replay at `port` serves."""
    rows = Source.objects.filter(Q(url__contains=f":{port}/")).values_list("pk", "url")
    return {pk: number for pk, url in rows if (number := source_of(url, port)) is not None}


def requests_made(since: datetime, until: datetime) -> int:
    return requested(since, until).count()


def lateness_of_due(since: datetime, now: datetime) -> Lateness:
    """Of the retrievals first due in [since, now), whenever made; reads the whole log."""
    made = "retrieval.due_at >= %(since)s AND retrieval.due_at < %(now)s"
    return lateness_where(made, "since >= %(since)s AND since < %(now)s", since=since, now=now)


def interests_of(port: int) -> dict[int, float]:
    """The factor by which searches raise the worth of each replayed source; 1 without searches."""
    numbers = replayed_sources(port)
    rows = Source.objects.filter(pk__in=numbers).values_list("pk", "interest")
    return {numbers[id]: interest for id, interest in rows}


def stored_postings(port: int, since: float) -> Iterator[Stored]:
    """The stored postings of sources at `port` that were retrieved since `since` (real seconds since 1970)."""
    sources = replayed_sources(port)
    rows = Posting.objects.filter(source__in=sources, retrieved_at__gte=datetime.fromtimestamp(since, UTC))
    columns = rows.values_list("source_id", "guid", "url", "retrieved_at")
    for row, guid, url, retrieved_at in columns.iterator(CHUNK):
        yield Stored(sources[row], row, guid, url, retrieved_at.timestamp())


def different_sources(ids: Collection[int], *, clock_rate: float, min_gap: int | None) -> QuerySet[Source]:
    """Those of the sources that an earlier replay has left with another clock rate or gap."""
    return Source.objects.filter(pk__in=ids).exclude(clock_rate=clock_rate, min_gap=min_gap)


def unobserved(ids: Collection[int]) -> bool:
    """Whether one of the sources has never been fetched."""
    return Schedule.objects.filter(source__in=ids, observed_at=None).exists()


def unread_changes() -> dict[str, int]:
    """The number of outbox rows that wait, by consumer."""
    return {table.removesuffix("_outboxrow"): fetch(f"SELECT count(*) FROM {table}")[0][0] for table in CHANGES}


def consumed_changes() -> int:
    """How many changes of postings have been consumed in all; Postgres counts with a delay of about a second."""
    sql = "SELECT sum(n_tup_del)::bigint FROM pg_stat_user_tables WHERE relname = ANY(%s)"
    return int(fetch(sql, [list(CHANGES)])[0][0] or 0)
