"""Delays of postings and numbers of new ones by day, for display."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from django.db.models import Aggregate, Max, QuerySet, Sum
from django.db.models.functions import Trunc

from apps.database.statements import query
from apps.retrieval.models import Retrieval
from apps.retrieval.queries import UNREQUESTED

RECENT = timedelta(days=7)  # the log that is shown to readers


@dataclass(frozen=True, slots=True)
class Day:
    """The postings that were retrieved on a day (UTC) and whose delay is known, in the sources' own time."""

    day: date
    postings: int = 0
    mean: float | None = None  # s; None when there were none
    longest: float = 0.0  # s


@dataclass(frozen=True, slots=True)
class Stored:
    day: date  # UTC
    postings: int


@dataclass(frozen=True, slots=True)
class CheckRate:
    """How often a source is checked, for its readers."""

    due_at: datetime | None
    per_day: float | None  # None before the first retrieval
    mean_delay: timedelta | None  # in the source's own time; None if no delay is known


def delays_by_day(now: datetime, days: int, source_id: int | None = None) -> list[Day]:
    """The last days, today included, without gaps, the oldest first; of a source or of all. One query."""
    made = Retrieval.objects.filter(dated__gt=0, **({} if source_id is None else {"source_id": source_id}))
    sums = {"postings": Sum("dated"), "seconds": Sum("delay_seconds"), "longest": Max("longest_delay_seconds")}
    return [
        Day(day.date(), row["postings"], row["seconds"] / row["postings"], row["longest"]) if row else Day(day.date())
        for day, row in by_period(made, "day", _first_day(now, days), now, **sums)
    ]


def stored_by_day(now: datetime, days: int) -> list[Stored]:
    """The last days, today included, without gaps, the oldest first; as far as the log goes back. One query."""
    made = by_period(Retrieval.objects.filter(new__gt=0), "day", _first_day(now, days), now, postings=Sum("new"))
    return [Stored(day.date(), row["postings"] if row else 0) for day, row in made]


def _first_day(now: datetime, days: int) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)


def by_period(
    retrievals: QuerySet[Retrieval], period: Literal["hour", "day"], first: datetime, now: datetime, **sums: Aggregate
) -> list[tuple[datetime, Mapping[str, Any] | None]]:
    """The begin (UTC) of every period from `first` until `now`, and the sums over its retrievals, if there are any."""
    made = retrievals.filter(fetched_at__gte=first, fetched_at__lte=now)
    rows = made.annotate(begin=Trunc("fetched_at", period, tzinfo=UTC)).values("begin").order_by("begin")
    known = {row["begin"]: row for row in rows.annotate(**sums)}
    step = timedelta(**{f"{period}s": 1})
    begins = [first + number * step for number in range((now - first) // step + 1)]
    return [(begin, known.get(begin)) for begin in begins]


def check_rate_of(source_id: int, now: datetime) -> CheckRate | None:
    """How often a source is checked, or None if it has no schedule; one query."""
    rows = query(
        """
        SELECT coalesce(schedule.first_due_at, schedule.due_at) AS due_at,
            count(retrieval.id) FILTER (WHERE retrieval.outcome <> ALL(%(unasked)s)) AS retrievals,
            min(retrieval.fetched_at) AS first, coalesce(sum(retrieval.dated), 0) AS postings,
            coalesce(sum(retrieval.delay_seconds), 0) AS seconds
        FROM retrieval_schedule schedule LEFT JOIN retrieval_retrieval retrieval
            ON retrieval.source_id = schedule.source_id AND retrieval.fetched_at > %(since)s
            AND retrieval.fetched_at <= %(now)s
        WHERE schedule.source_id = %(id)s GROUP BY schedule.source_id
        """,
        {"unasked": list(UNREQUESTED), "since": now - RECENT, "now": now, "id": source_id},
    )
    if not rows:
        return None
    [made] = rows
    # A source younger than a day has less than a day's retrievals.
    days = max((now - made.first) / timedelta(days=1), 1.0) if made.first else 1.0
    return CheckRate(
        made.due_at,
        per_day=made.retrievals / days if made.retrievals else None,
        mean_delay=timedelta(seconds=made.seconds / made.postings) if made.postings else None,
    )
