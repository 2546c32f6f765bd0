"""Lateness: the seconds from when a retrieval was first due until its request was sent, and until it is stored.

Dispatching a retrieval again does not move its first due time. A retrieval that ended without a request is as late as
its end, and one that is not stored yet as late as it is by now. Rows of the log without a request
(`queries.UNREQUESTED`) are left out; a deferred retrieval is still due and counts as such.
"""

from datetime import datetime, timedelta
from math import inf
from typing import NamedTuple

from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.queries import UNREQUESTED

OVERDUE_AFTER = timedelta(minutes=1)  # slow servers have 30 s, and a beat or worker is replaced within 5 s
BUCKETS = (
    *(0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0),
    *(1_800.0, 3_600.0, 7_200.0, 14_400.0, 43_200.0, 86_400.0, inf),
)  # s, upper bounds

DELAY = "delay"  # of postings, a stage of the histogram beside those of `Late`

# Of a row of the log, s. `greatest`, since clocks of two machines may differ by some milliseconds.
BEGUN = "greatest(extract(epoch FROM coalesce(begun_at, stored_at) - retrieval.due_at), 0)::float8"
STORED = "greatest(extract(epoch FROM stored_at - retrieval.due_at), 0)::float8"
# Schedules that are due and not stored; each part has an index of its own.
DUE = """
SELECT source_id, first_due_at AS since, due_at, dispatched_at, worker FROM retrieval_schedule
WHERE first_due_at IS NOT NULL AND due_at IS NOT NULL
UNION ALL
SELECT source_id, due_at, due_at, dispatched_at, worker FROM retrieval_schedule
WHERE first_due_at IS NULL AND due_at <= %(now)s
"""
WAITED = "greatest(extract(epoch FROM %(now)s - since), 0)::float8"  # of a row of `DUE`, s


class Late(NamedTuple):
    """Seconds."""

    begun: float
    stored: float


def late(retrieval: Retrieval) -> Late | None:
    """How late a row of the log was, or None without a request."""
    if retrieval.outcome in UNREQUESTED:
        return None
    times = (retrieval.begun_at or retrieval.stored_at, retrieval.stored_at)
    return Late(*(max((at - retrieval.due_at).total_seconds(), 0.0) for at in times))


def due_since(schedule: Schedule, now: datetime) -> datetime | None:
    """When the retrieval that is due or under way was due for the first time; None while the source waits."""
    if schedule.due_at is None:
        return None
    since = schedule.first_due_at or schedule.due_at
    return since if schedule.first_due_at or since <= now else None


def overdue_since(schedule: Schedule, now: datetime) -> datetime | None:
    """The same if that is longer ago than `OVERDUE_AFTER`."""
    since = due_since(schedule, now)
    return since if since and since < now - OVERDUE_AFTER else None
