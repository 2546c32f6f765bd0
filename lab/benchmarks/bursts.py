"""Sources of a replay that fall due together in a running portal: when each is requested and stored."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from celery import current_app
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.models import F
from django_celery_beat.models import PeriodicTask
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.database.statements import fetch
from apps.retrieval.models import Schedule
from apps.sources.actions.editing import add_sources
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source
from lab.benchmarks.lateness import WINDOW, Burst, figures, measure
from lab.worlds.actions import add_feeds
from lab.worlds.addresses import DOMAIN
from lab.worlds.feed import Feed
from lab.worlds.queries import unread_changes
from lab.worlds.server_process import Server, feed_arrivals

MIN_GAP = 1  # s between two retrievals of a source
PREPARATION_TIMEOUT = 1_800.0  # s
DISPATCH_AGAIN_SECONDS = 20.0  # after which unfetched sources are made due again; only in preparation
POLLED_EVERY = 0.25  # s
REST = timedelta(days=1)  # until sources fall due by themselves

# Rows that the portal has locked are left out: waiting for them in another order than its own is a deadlock.
_SET_DUE = """
UPDATE retrieval_schedule SET due_at = statement_timestamp(), first_due_at = NULL, dispatched_at = NULL,
    earliest_at = NULL, not_before = NULL
WHERE source_id IN (SELECT source_id FROM retrieval_schedule WHERE source_id = ANY(%s) FOR UPDATE SKIP LOCKED)
RETURNING extract(epoch FROM due_at)::float8
"""
_STORED = """
SELECT source_id, extract(epoch FROM min(stored_at))::float8 FROM retrieval_retrieval
WHERE fetched_at >= to_timestamp(%s) AND source_id = ANY(%s) AND outcome = 'new' GROUP BY source_id
"""


def set_due(source_ids: Collection[int]) -> float:
    """Make sources due now, all at once; return the time in seconds since 1970."""
    with transaction.atomic():
        rows = fetch(_SET_DUE, [list(source_ids)])
        with connection.cursor() as cursor:
            cursor.execute("NOTIFY retrieval_schedule")
    return float(rows[0][0]) if rows else time.time()


def settle(source_ids: Collection[int]) -> None:
    """Wait until no retrieval of the sources is running, and let none fall due by itself."""

    def rest() -> bool:
        idle = Schedule.objects.filter(pk__in=source_ids, worker="")
        # The new sequence number invalidates messages that are still in the queue.
        planned = {"due_at": datetime.now(UTC) + REST, "first_due_at": None, "dispatched_at": None}
        return idle.update(sequence=F("sequence") + 1, **planned) == len(source_ids)

    wait_until(rest, "retrievals come to an end")


def wait_until_started(processes: Collection[str], began: datetime) -> None:
    """Wait until beat has sent a message and a worker responds for each other process."""

    def are_there() -> bool:
        leads = PeriodicTask.objects.filter(last_run_at__gte=began).exists()
        return leads and len(current_app.control.ping()) >= len(processes) - 1

    wait_until(are_there, "beat and the workers are there")


def wait_until_idle() -> None:
    wait_until(lambda: not any(unread_changes().values()), "all changes of postings are read")


def wait_until(is_so: Callable[[], bool], what: str, *, timeout: float = PREPARATION_TIMEOUT) -> None:
    """Raises CommandError after the timeout."""
    until = time.monotonic() + timeout
    while not is_so():
        if time.monotonic() > until:
            raise CommandError(f"Waited {timeout:.0f} s until {what}, in vain.")
        time.sleep(POLLED_EVERY)


def add_and_fetch(server: Server, feeds: Sequence[Feed], progress: Progress) -> dict[int, int]:
    """Add feeds as sources and wait until each was fetched once; return the feeds' numbers by source id."""
    ids = add_feeds(feeds, server.addresses, speed=1.0, min_gap=MIN_GAP, now=datetime.now(UTC))
    numbers = {source_id: feed.number for source_id, feed in zip(ids, feeds, strict=True)}
    bar = progress.add_task("Fetching every feed once", total=len(ids))
    dispatched_at = time.monotonic()

    def are_fetched() -> bool:
        nonlocal dispatched_at
        missing = Schedule.objects.filter(pk__in=ids, observed_at=None)
        progress.update(bar, completed=len(ids) - len(missing))
        if time.monotonic() > dispatched_at + DISPATCH_AGAIN_SECONDS:
            if idle := [row.pk for row in missing if not row.worker]:
                set_due(idle)
            dispatched_at = time.monotonic()
        return not missing

    wait_until(are_fetched, "every feed is fetched once")
    progress.remove_task(bar)
    settle(ids)
    server.take_requests()
    return numbers


def add_silent(server: Server, count: int) -> list[int]:
    """Add sources that were fetched before and whose hosts accept connections but never respond; return their ids."""
    now = datetime.now(UTC)
    hosts = range(len(server.feeds) + 1, len(server.feeds) + count + 1)
    urls = [f"http://s{number}.{DOMAIN}:{server.silent_port}/feed" for number in hosts]
    ids = add_sources([Source(url=url, always_retrieved=True, min_gap=MIN_GAP) for url in urls])
    Schedule.objects.bulk_create(
        [
            Schedule(
                source_id=source_id, partition=partition(url), due_at=now + REST, requested_at=now, observed_at=now
            )
            for source_id, url in zip(ids, urls, strict=True)
        ]
    )
    return ids


def burst(
    server: Server,
    numbers: Mapping[int, int],
    *,
    unmeasured: Collection[int] = (),
    watch: Callable[[], object] = lambda: None,
) -> Burst:
    """Make all sources due together with the `unmeasured` ones, and wait until they are stored.

    `watch` is called repeatedly meanwhile.
    """
    due_at = set_due([*numbers, *unmeasured])
    while time.time() < due_at + WINDOW:
        watch()
        stored = dict(fetch(_STORED, [due_at, list(numbers)]))
        if len(stored) == len(numbers):
            break
        time.sleep(POLLED_EVERY)
    arrived = feed_arrivals(server.take_requests(), since=due_at)
    begun = {source_id: arrived[number] for source_id, number in numbers.items() if number in arrived}
    return measure(due_at, numbers, begun, stored)


@contextmanager
def without_derived_work() -> Iterator[None]:
    """Disable the outboxes of search, trends, stories, summaries and alerts within the block."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE postings_posting DISABLE TRIGGER USER")
        try:
            yield
        finally:
            cursor.execute("ALTER TABLE postings_posting ENABLE TRIGGER USER")


def print_bursts(console: Console, title: str, bursts: Mapping[str, Burst]) -> None:
    table = Table(title=title)
    for column in ("", "due", "begun p50 s", "p99 s", "max s", "stored max s", "not begun"):
        table.add_column(column, justify="right" if column else "left")
    for name, each in bursts.items():
        due, *seconds, not_begun = figures([each]).values()
        table.add_row(name, f"{due:,.0f}", *(f"{value:.2f}" for value in seconds), f"{not_begun:,.0f}")
    console.print(table)
