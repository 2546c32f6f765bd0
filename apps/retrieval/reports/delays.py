"""How late postings reached us, as people look at it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Max, Sum
from django.db.models.functions import TruncDate

from apps.database.statements import rows_of
from apps.retrieval.models import Retrieval
from apps.retrieval.queries import UNASKED

RECENT = timedelta(days=7)  # what readers are told of a source's delays is as old as this at most


@dataclass(frozen=True, slots=True)
class Day:
    """The postings that were retrieved on a day (UTC) and whose delay is known, in the sources' own time."""

    day: date
    postings: int = 0
    mean: float | None = None  # s; None when there were none
    longest: float = 0.0  # s


@dataclass(frozen=True, slots=True)
class CheckRate:
    """What readers are told of how a source is asked."""

    due_at: datetime | None
    per_day: float | None  # None before there is a retrieval to count
    mean_delay: timedelta | None  # in the source's own time; None when no posting came whose delay is known


def delays_by_day(now: datetime, days: int, source_id: int | None = None) -> list[Day]:
    """The last days, today included and every one of them present, the oldest first; of a source or of all."""
    first = (now - timedelta(days=days - 1)).astimezone(UTC).date()
    made = Retrieval.objects.filter(fetched_at__gte=datetime(first.year, first.month, first.day, tzinfo=UTC))
    if source_id is not None:
        made = made.filter(source_id=source_id)
    rows = (
        made.filter(fetched_at__lte=now, dated__gt=0)
        .annotate(day=TruncDate("fetched_at", tzinfo=UTC))
        .values("day")
        .order_by("day")
        .annotate(postings=Sum("dated"), seconds=Sum("delay_seconds"), latest=Max("longest_delay_seconds"))
    )
    return list(_every_day(first, days, rows))


def _every_day(first: date, days: int, rows: Iterable[Mapping[str, Any]]) -> Iterable[Day]:
    known = {
        row["day"]: Day(row["day"], row["postings"], row["seconds"] / row["postings"], row["latest"]) for row in rows
    }
    for number in range(days):
        day = first + timedelta(days=number)
        yield known.get(day, Day(day))


def check_rate_of(source_id: int, now: datetime) -> CheckRate | None:
    """How a source is asked, or None if it has no schedule; one query."""
    with connection.cursor() as cursor:
        cursor.execute(
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
            {"unasked": list(UNASKED), "since": now - RECENT, "now": now, "id": source_id},
        )
        made = next(iter(rows_of(cursor)), None)
    if made is None:
        return None
    # Of a source that is newer than a day, a day's retrievals are yet to be counted.
    days = max((now - made.first) / timedelta(days=1), 1.0) if made.first else 1.0
    return CheckRate(
        made.due_at,
        per_day=made.retrievals / days if made.retrievals else None,
        mean_delay=timedelta(seconds=made.seconds / made.postings) if made.postings else None,
    )
