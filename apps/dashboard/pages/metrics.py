"""The portal's health in numbers, all of them read from the database and the broker at the moment of asking.

So it does not matter which process answers, and none has to remember anything.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.alerts import models as alerts
from apps.alerts.queries import messages
from apps.dashboard.queries import services
from apps.database.activity import load
from apps.jobs import queries as jobs
from apps.postings.queries.backlog import Backlog, backlog
from apps.retrieval.reports import health as retrieval
from apps.retrieval.reports import lateness
from apps.retrieval.reports.lateness import Histogram
from apps.search import models as search
from apps.sources import queries as sources
from apps.stories import models as stories
from apps.summaries import models as summaries
from apps.trending import models as trending

WINDOW = timedelta(hours=1)  # of what is counted over time
# Changed postings in the order in which each part of the portal takes them.
QUEUES = {
    "alerts": alerts.OutboxRow.objects.order_by("id"),
    "search": search.OutboxRow.objects.filter(rebuild=False).order_by("id"),  # without those read again on demand
    "stories": stories.OutboxRow.objects.order_by("published_at", "posting_id", "id"),
    "summaries": summaries.OutboxRow.objects.order_by("id"),
    "trending": trending.OutboxRow.objects.order_by("id"),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A gauge or a counter: one number, or one for each value of a label."""

    name: str
    meaning: str
    values: Mapping[str, float]  # under "" where there is no label
    label: str = ""
    is_counter: bool = False  # it only grows, and its name ends in "_total"


@dataclass(frozen=True, slots=True)
class HistogramMetric:
    """A histogram for each value of a label."""

    name: str
    meaning: str
    values: Mapping[str, Histogram]
    label: str


def metrics(now: datetime) -> list[Metric | HistogramMetric]:
    started = time.monotonic()
    found = [
        *_retrievals(now),
        *_lateness(now),
        *_sources(now),
        *_queues(now),
        *_messages(now),
        *_jobs(),
        *_services(),
    ]
    return [*found, _one("scrape_seconds", "How long it took to read these numbers.", time.monotonic() - started)]


def _one(name: str, meaning: str, value: float) -> Metric:
    return Metric(f"wirebeat_{name}", meaning, {"": value})


def _several(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    return Metric(f"wirebeat_{name}", meaning, values, label)


def _retrievals(now: datetime) -> Iterator[Metric]:
    asked = retrieval.retrieval_health(now - WINDOW, now)
    counts = {outcome: row.count for outcome, row in asked.items()}
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
    rows = asked.values()
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


def _lateness(now: datetime) -> Iterator[Metric | HistogramMetric]:
    yield HistogramMetric(
        "wirebeat_retrieval_lateness_seconds",
        "Seconds from when a retrieval was first due until its request was sent, and until it was stored.",
        lateness.histograms(),
        "stage",
    )
    found = lateness.overdue(now)
    yield _one("retrievals_overdue", "Retrievals first due over a minute ago and not stored.", found.count)
    yield _one(
        "retrieval_overdue_seconds_max",
        "How long the retrieval waits that is due, not stored, and was due first.",
        found.longest,
    )
    yield _one(
        "retrieval_workers_alive",
        "Retrieval workers whose heartbeat is fresh.",
        found.workers,
    )
    yield Metric(
        "wirebeat_unmatched_claims_total",
        "Claims in messages that matched no row, by reason.",
        lateness.unmatched_claims(),
        "reason",
        is_counter=True,
    )
    yield _one("sources_overdue", "The same as retrievals_overdue.", found.count)
    yield _one("sources_overdue_seconds", "The same as retrieval_overdue_seconds_max.", found.longest)


def _sources(now: datetime) -> Iterator[Metric]:
    yield _several("sources", "Sources by state.", "state", sources.counts_by_state())
    waiting = retrieval.waiting(now)
    yield _one("sources_planned", "Sources with a next instant.", waiting.planned)
    yield _one("sources_failing", "Sources that failed last time.", waiting.failing)
    if waiting.dispatched_ago is not None:
        yield _one("dispatched_seconds_ago", "When the latest visit was handed out.", waiting.dispatched_ago)


def _queues(now: datetime) -> Iterator[Metric]:
    found = backlogs(now)
    lengths = {name: backlog.length for name, backlog in found.items()}
    seconds = {name: backlog.seconds for name, backlog in found.items()}
    yield _several("changes_waiting", "Changed postings that wait for a part of the portal.", "queue", lengths)
    yield _several("changes_waiting_seconds", "How long the oldest of them waits.", "queue", seconds)


def backlogs(now: datetime) -> Mapping[str, Backlog]:
    return {name: backlog(changes, now) for name, changes in QUEUES.items()}


def _messages(now: datetime) -> Iterator[Metric]:
    yield _several("alert_messages", "Messages that wait or were given up.", "state", messages.waiting_and_failed())
    yield _one("alert_messages_late", "Messages that somebody should have been at.", messages.left_behind(now))
    done = messages.done_since(now - WINDOW)
    yield _several("alert_messages_last_hour", "Messages that came to their end within the last hour.", "state", done)


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
