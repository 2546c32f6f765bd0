"""Retrievals at times that a test chooses, without a network."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from django.core.management import call_command

from apps.jobs import actions as jobs
from apps.jobs.models import Job
from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources, start, store
from apps.retrieval.http.fetching import Failure, Fetched
from apps.retrieval.http.results import Assignment, decide
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.worker.engine import Engine
from apps.sources.models import Source
from tests.builders import a_posting, a_source

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)  # a Sunday
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BROKEN = Failure("timeout", "No answer.")
BUSY = Failure("host_busy", "Others come first.", 90.0)


def a_feed(dates: Iterable[datetime | None], *, first: int = 0, channel: str = "") -> bytes:
    """A feed of one posting per date; those without a date say none. `first` numbers them."""
    items = "".join(
        f"<item><guid>{first + number}</guid><title>Posting {first + number}</title>"
        + ("" if date is None else f"<pubDate>{format_datetime(date)}</pubDate>")
        + "</item>"
        for number, date in enumerate(dates)
    )
    return f"<rss version='2.0'><channel><title>News</title>{channel}{items}</channel></rss>".encode()


def a_scheduled_source(**values: Any) -> Source:
    source = a_source(**{"always_retrieved": True} | values)
    adopt_sources([source.pk], now=NOW)
    return source


def begin(source: Source, at: datetime = NOW) -> Assignment:
    schedule = Schedule.objects.get(pk=source.pk)
    [assignment] = start([Claim(schedule.pk, schedule.sequence, at.timestamp(), at.timestamp())], worker="one", now=at)
    return assignment


def an_answer(assignment: Assignment, at: datetime, body: bytes = b"", **values: Any) -> Fetched:
    """A whole feed, or a 304 where no body is given."""
    answer = {"url": assignment.url, "received_at": at, "status": 200 if body else 304, "body": body}
    return Fetched(**answer | {"headers": {"etag": f'"{at}"'}} | values)


def visit(source: Source, at: datetime = NOW, body: bytes = b"", **answer: Any) -> Schedule:
    """Retrieve a source with a given response; returns its schedule afterwards."""
    assignment = begin(source, at)
    store([decide(assignment, an_answer(assignment, at, body, **answer), jitter=0.0)])
    return Schedule.objects.get(pk=source.pk)


def fail(source: Source, at: datetime = NOW, failure: Failure = BROKEN) -> Schedule:
    return visit(source, at, status=0, headers={}, failure=failure)


def latest(source: Source) -> Retrieval:
    return Retrieval.objects.filter(source=source).latest("pk")


def daily(hour: float, *, days: int = 28, until: datetime = NOW) -> list[datetime]:
    """One date a day at some hour, UTC, the latest first, none after `until`."""
    midnight = until.replace(hour=0, minute=0)
    dates = [midnight + timedelta(hours=hour) - day * DAY for day in range(days + 1)]
    return [date for date in dates if date <= until][:days]


def an_observed_source(dates: Iterable[datetime | None] = (), *, at: datetime = NOW, **values: Any) -> Source:
    """A source that has answered once, with postings of these dates."""
    source = a_scheduled_source(**values)
    visit(source, at, a_feed(dates))
    return source


def a_dated_posting(source: Source, published_at: datetime, **values: Any) -> Posting:
    given = {"published_at": published_at, "claimed_at": published_at, "retrieved_at": published_at + HOUR}
    return a_posting(source, **given | values)


def retrieve_now(engine: Engine, source_id: int) -> Retrieval:
    """Retrieve a source now, as beat does when it is due; returns the logged retrieval."""
    now = time.time()
    sequence = Schedule.objects.get(pk=source_id).sequence
    engine.retrieve([Claim(source_id, sequence, now, now)], worker="worker")
    return Retrieval.objects.filter(source_id=source_id).latest("fetched_at")


def extract_again(**parameters: int) -> dict[str, Any]:
    """Extract all kept pages again, or those of a source; returns the result of the job."""
    job, _ = jobs.claiming.create("extract", parameters, requested_by="a test")
    call_command("job", "work", job.pk)
    return Job.objects.get(pk=job.pk).result
