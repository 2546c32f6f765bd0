"""Metrics, read from the database and the broker at each scrape, so that any process can serve them."""

import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Min, Model, QuerySet
from django.db.models.functions import Coalesce, Greatest
from prometheus_client import core
from prometheus_client.core import Metric
from prometheus_client.utils import floatToGoString

from apps.alerts import models as alerts
from apps.alerts.queries import messages
from apps.dashboard.queries import services
from apps.database import counters
from apps.database.activity import load
from apps.database.statements import fetch
from apps.documents.models import RawDocument
from apps.jobs import queries as jobs
from apps.jobs.actions.dead_letters import dead_letters
from apps.postings.models import Posting
from apps.retrieval.models import Backtest
from apps.retrieval.queries.lateness import DELAY
from apps.retrieval.reports import lateness
from apps.search import models as search
from apps.sources import queries as sources
from apps.stories import models as stories
from apps.summaries import models as summaries
from apps.trending import models as trending

MAX_COUNTED = 100_000  # rows
SAMPLE = 100  # first rows of an outbox, as some are of deleted postings


class Backlog(NamedTuple):
    length: int  # up to MAX_COUNTED
    seconds: float  # age of the oldest row; 0 for an empty outbox


def backlog(changes: QuerySet[Any, Model], now: datetime) -> Backlog:
    """The backlog of an outbox that is ordered by age and has a `posting_id`."""
    first = list(changes.values_list("posting_id", flat=True)[:SAMPLE])
    if not first:
        return Backlog(0, 0.0)
    changed_at = Greatest("retrieved_at", Coalesce("edited_at", "retrieved_at"))
    oldest = Posting.objects.filter(pk__in=first).aggregate(oldest=Min(changed_at))["oldest"]
    seconds = max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
    return Backlog(changes.order_by()[:MAX_COUNTED].count(), seconds)


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
    yield from _backtest()
    yield from _sources(now)
    yield from _queues(now)
    yield from _messages(now)
    yield from _jobs()
    yield from _services()
    yield from counters.metrics()
    yield from _safety()
    yield _one("scrape_seconds", "How long it took to read these numbers.", time.monotonic() - started)


def _one(name: str, meaning: str, value: float) -> Metric:
    return core.GaugeMetricFamily(f"wirebeat_{name}", meaning, value=value)


def _several(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    family = core.GaugeMetricFamily(f"wirebeat_{name}", meaning, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _retrievals(now: datetime) -> Iterator[Metric]:
    counts = lateness.counts_by_outcome(now - WINDOW, now)
    yield _several("retrievals_last_hour", "Retrievals of the last hour.", "outcome", counts)
    late = lateness.lateness(now - WINDOW, now)
    yield core.SummaryMetricFamily(
        "wirebeat_retrieval_late_seconds_last_hour",
        "Seconds from when retrievals were first due until their request was sent, or until now. Of the last hour, with"
        " those that are due and not stored.",
        count_value=late.retrievals,
        sum_value=late.begun.total,
    )
    yield _one("retrieval_late_seconds_last_hour_max", "The latest one of them.", late.begun.longest)


def _lateness(now: datetime) -> Iterator[Metric]:
    histogram = core.HistogramMetricFamily(
        "wirebeat_retrieval_lateness_seconds",
        "Seconds from when a retrieval was first due until its request was sent, and until it was stored.",
        labels=["stage"],
    )
    delay = core.HistogramMetricFamily(
        "wirebeat_posting_delay_seconds", "Seconds from the publication of postings until they were here."
    )
    for stage, found in lateness.histograms().items():
        buckets = [(floatToGoString(upper), count) for upper, count in found.buckets]
        if stage == DELAY:
            delay.add_metric([], buckets, found.seconds)
        else:
            histogram.add_metric([stage], buckets, found.seconds)
    yield histogram
    yield delay
    overdue = lateness.overdue(now)
    yield _one("retrievals_overdue", "Retrievals first due over a minute ago and not stored.", overdue.count)
    yield _one(
        "retrieval_overdue_seconds_max",
        "How long the retrieval waits that is due, not stored, and was due first.",
        overdue.longest,
    )
    yield _one("retrieval_workers_alive", "Retrieval workers whose heartbeat is fresh.", overdue.workers)
    unmatched = core.CounterMetricFamily(
        "wirebeat_unmatched_claims_total", "Claims in messages that matched no row, by reason.", labels=["reason"]
    )
    for reason, count in lateness.unmatched_claims().items():
        unmatched.add_metric([reason], count)
    yield unmatched


def _backtest() -> Iterator[Metric]:
    latest = Backtest.objects.order_by("-at").first()
    if latest:
        delays = {name: 60 * found["mean"] for name, found in latest.results.items()}
        yield _several("backtest_delay_seconds", "Mean delay of a day replayed at equal checks.", "policy", delays)
        yield _several("backtest_delay_share", "Shares of the measured delay.", "cause", latest.shares)
        yield _several("bytes_last_day", "Bytes received, and saved by each way to request less.", "kind", latest.saved)


def _sources(now: datetime) -> Iterator[Metric]:
    yield _several("sources", "Sources by state.", "state", sources.counts_by_state())
    waiting = lateness.waiting(now)
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


def _safety() -> Iterator[Metric]:
    stuck, damaged = dead_letters().count(), RawDocument.objects.exclude(damaged_at=None).count()
    yield _one("dead_letters", "Messages that ended their workers, or that no worker could read.", stuck)
    yield _one("documents_damaged", "Stored pages whose file was found damaged.", damaged)
    yield _one("disk_free_bytes", "Free room where the site keeps its data.", shutil.disk_usage(settings.VAR_DIR).free)
    [(ahead,)] = fetch("SELECT extract(epoch FROM clock_timestamp())::float8 - %s::float8", [time.time()])
    yield _one("clock_skew_seconds", "How far the site's clock is off that of the database.", abs(ahead))
    for name in ("backup", "restore_test"):  # noted by these commands on the machine of the site
        if (file := settings.VAR_DIR / f"latest_{name}").exists():
            yield _one(f"{name}_seconds_ago", "Seconds since it last succeeded.", time.time() - file.stat().st_mtime)


def _services() -> Iterator[Metric]:
    yield _several("broker_messages", "Messages in the broker's queues.", "queue", services.queue_lengths())
    database = load()
    yield _several("database_connections", "Connections to the server.", "state", database.connections)
    yield _one("database_connections_most", "Connections that the server allows.", database.max_connections)
    yield _one("database_bytes", "Size of the database.", database.size)
