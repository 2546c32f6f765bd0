"""Sources with plans and visits."""

from datetime import datetime, timedelta

from apps.sources.models import Source
from tests.builders import NOON, a_profile, a_retrieval, a_schedule, a_source

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def a_planned_source(now: datetime = NOON, **values) -> Source:
    """A source checked an hour ago and due in three hours, by its flat profile at 8 posting-hours."""
    source = a_source(**{"always_retrieved": True} | values)
    a_profile(source)
    hour = HOUR / source.clock_rate
    a_schedule(source, due_at=now + 3 * hour, observed_at=now - hour, requested_at=now - hour, earliest_at=now)
    return source


def a_visit(source: Source, at: datetime, **values):
    """A retrieval dispatched a second late and fetched two seconds later."""
    times = {"due_at": at - 3 * HOUR / 3_600, "dispatched_at": at - 2 * HOUR / 3_600, "stored_at": at}
    return a_retrieval(source, fetched_at=at, **times | values)
