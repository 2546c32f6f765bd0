"""Metrics, read from the database and the broker at each scrape, so that any process can serve them."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

from apps.alerts import models as alerts
from apps.alerts.queries import messages
from apps.dashboard.queries import services
from apps.database.activity import load
from apps.jobs import queries as jobs
from apps.postings.queries.backlog import Backlog, backlog
from apps.retrieval.reports import lateness
from apps.retrieval.reports import lateness as retrieval
from apps.search import models as search
from apps.sources import queries as sources
from apps.stories import models as stories
from apps.summaries import models as summaries
from apps.trending import models as trending

WINDOW = timedelta(hours=1)
# Outboxes in the order in which they are consumed.
QUEUES = {
    "alerts": alerts.OutboxRow.objects.order_by("id"),
    "search": search.OutboxRow.objects.filter(rebuild=False).order_by("id"),  # without those of a reindexing
    "stories": stories.OutboxRow.objects.order_by("published_at", "posting_id", "id"),
    "summaries": summaries.OutboxRow.objects.order_by("id"),
    "trending": trending.OutboxRow.objects.order_by("id"),
}


def metrics(now: datetime) -> Iterator[Metric]:
    started = time.monotonic()
    yield from _retrievals(now)
    yield from _lateness(now)
    yield from _sources(now)
    yield from _queues(now)
    yield from _messages(now)
    yield from _jobs()
    yield from _services()
    yield _one("scrape_seconds", "How long it took to read these numbers.", time.monotonic() - started)


def _one(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"wirebeat_{name}", meaning, value=value)


def _several(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"wirebeat_{name}", meaning, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _retrievals(now: datetime) -> Iterator[Metric]:
    health = retrieval.retrieval_health(now - WINDOW, now)
    counts = {outcome: row.count for outcome, row in health.items()}
    yield _several("retrievals_last_hour", "Retrievals of the last hour.", "outcome", counts)
    late = lateness.lateness(now - WINDOW, now)
    yield _one(
        "retrieval_late_seconds_last_hour_sum",
        "Seconds from when retrievals of the last hour were first due until their request was sent, or until now.",
        late.begun.total,
    )
    yield _one(
        "retrieval_late_seconds_last_hour_count",
        "Retrievals of the last hour, with those that are due and not stored.",
        late.retrievals,
    )
    yield _one("retrieval_late_seconds_last_hour_max", "The latest one of them.", late.begun.longest)
    rows = health.values()
    yield _one(
        "posting_delay_seconds_last_hour_sum",
        "Seconds from the publication of the last hour's new postings until they were here, in their sources' time.",
        sum(row.delay_seconds for row in rows),
    )
    yield _one(
        "posting_delay_seconds_last_hour_count",
        "New postings of the last hour whose delay is known.",
        sum(row.dated for row in rows),
    )
    yield _one(
        "posting_delay_seconds_last_hour_max",
        "The longest delay of them.",
        max(row.longest_delay_seconds for row in rows),
    )


def _lateness(now: datetime) -> Iterator[Metric]:
    histogram = HistogramMetricFamily(
        "wirebeat_retrieval_lateness_seconds",
        "Seconds from when a retrieval was first due until its request was sent, and until it was stored.",
        labels=["stage"],
    )
    for stage, found in lateness.histograms().items():
        buckets = [(floatToGoString(upper), count) for upper, count in found.buckets]
        histogram.add_metric([stage], buckets, found.seconds)
    yield histogram
    overdue = lateness.overdue(now)
    yield _one("retrievals_overdue", "Retrievals first due over a minute ago and not stored.", overdue.count)
    yield _one(
        "retrieval_overdue_seconds_max",
        "How long the retrieval waits that is due, not stored, and was due first.",
        overdue.longest,
    )
    yield _one("retrieval_workers_alive", "Retrieval workers whose heartbeat is fresh.", overdue.workers)
    unmatched = CounterMetricFamily(
        "wirebeat_unmatched_claims_total", "Claims in messages that matched no row, by reason.", labels=["reason"]
    )
    for reason, count in lateness.unmatched_claims().items():
        unmatched.add_metric([reason], count)
    yield unmatched
    yield _one("sources_overdue", "The same as retrievals_overdue.", overdue.count)
    yield _one("sources_overdue_seconds", "The same as retrieval_overdue_seconds_max.", overdue.longest)


def _sources(now: datetime) -> Iterator[Metric]:
    yield _several("sources", "Sources by state.", "state", sources.counts_by_state())
    waiting = retrieval.waiting(now)
    yield _one("sources_planned", "Sources with a time for their next check.", waiting.planned)
    yield _one("sources_failing", "Sources that failed last time.", waiting.failing)
    if waiting.dispatched_ago is not None:
        yield _one("dispatched_seconds_ago", "Seconds since the latest check was dispatched.", waiting.dispatched_ago)


def _queues(now: datetime) -> Iterator[Metric]:
    found = backlogs(now)
    lengths = {name: backlog.length for name, backlog in found.items()}
    seconds = {name: backlog.seconds for name, backlog in found.items()}
    yield _several("changes_waiting", "Changed postings that wait for a part of the portal.", "queue", lengths)
    yield _several("changes_waiting_seconds", "How long the oldest of them waits.", "queue", seconds)


def backlogs(now: datetime) -> Mapping[str, Backlog]:
    return {name: backlog(changes, now) for name, changes in QUEUES.items()}


def _messages(now: datetime) -> Iterator[Metric]:
    yield _several("alert_messages", "Messages that wait or have failed.", "state", messages.waiting_and_failed())
    yield _one("alert_messages_late", "Messages that are overdue.", messages.left_behind(now))
    done = messages.done_since(now - WINDOW)
    yield _several("alert_messages_last_hour", "Messages sent or failed within the last hour.", "state", done)


def _jobs() -> Iterator[Metric]:
    unfinished = jobs.unfinished()
    yield _several("jobs", "Jobs that are not at their end.", "state", jobs.counts_by_state(unfinished))
    progress = {f"{job.kind} {job.pk}": jobs.progress([job])[job.pk] for job in unfinished}
    shares = {name: each.share for name, each in progress.items()}
    yield _several("job_done_share", "How far unfinished jobs are in their present stage, 0 to 1.", "job", shares)
    workers = {name: each.workers for name, each in progress.items()}
    yield _several("job_workers", "Workers that are at a split.", "job", workers)
    dead = {name: each.dead for name, each in progress.items()}
    yield _several("job_splits_given_up", "Splits that failed too often.", "job", dead)


def _services() -> Iterator[Metric]:
    yield _several("broker_messages", "Messages in the broker's queues.", "queue", services.queue_lengths())
    database = load()
    yield _several("database_connections", "Connections to the server.", "state", database.connections)
    yield _one("database_connections_most", "Connections that the server allows.", database.max_connections)
    yield _one("database_bytes", "Size of the database.", database.size)
