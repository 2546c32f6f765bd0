"""What the plan of all sources together does: what it was meant to cost, what it cost, and who got how much."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Count
from django.db.models.functions import TruncHour

from apps.database.statements import rows_as
from apps.retrieval.models import Plan, Retrieval
from apps.retrieval.planner.state import TABLES, WORTH
from apps.retrieval.queries import UNASKED

RECENT = timedelta(hours=24)
SORTS = {
    "retrievals": "retrievals DESC, source.id",
    "postings": "profile.weekly DESC NULLS LAST, source.id",
    "worth": "worth DESC, source.id",
    "delay": "mean_delay DESC NULLS LAST, source.id",
    "next": "coalesce(schedule.first_due_at, schedule.due_at), source.id",
    "source": "lower(source.title), source.id",
}


@dataclass(frozen=True, slots=True)
class Hour:
    """The requests made within an hour."""

    begins_at: datetime
    retrievals: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    planned: int  # sources that are to be asked
    failing: int
    overdue: int  # asked longer ago than the longest gap, and either late or failing


@dataclass(frozen=True, slots=True)
class Share:
    """What one source gets."""

    source_id: int
    name: str
    retrievals: int  # of the last 24 hours
    weekly: float | None  # postings expected a week; None while no profile is known
    worth: float
    mean_delay: float | None  # s of its own time, of the last 24 hours
    due_at: datetime  # for the first time, where it is under way


def retrievals_by_hour(now: datetime, hours: int) -> list[Hour]:
    """The last whole and the present hour, every one of them present, the oldest first."""
    present = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    first = present - timedelta(hours=hours - 1)
    rows = (
        Retrieval.objects.filter(fetched_at__gte=first, fetched_at__lte=now)
        .exclude(outcome__in=UNASKED)
        .annotate(hour=TruncHour("fetched_at", tzinfo=UTC))
        .values("hour")
        .order_by("hour")
        .annotate(made=Count("pk"))
        .values_list("hour", "made")
    )
    known = dict(rows)
    begins = [first + timedelta(hours=number) for number in range(hours)]
    return [Hour(begin, known.get(begin, 0)) for begin in begins]


def trouble(plan: Plan, now: datetime) -> Trouble:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) AS planned, count(*) FILTER (WHERE schedule.failing_since IS NOT NULL) AS failing,
                count(*) FILTER (WHERE schedule.asked_at < %(now)s - %(gap)s / source.clock_rate
                    AND (coalesce(schedule.first_due_at, schedule.due_at) < %(now)s
                        OR schedule.failing_since IS NOT NULL)) AS overdue
            FROM retrieval_schedule schedule JOIN sources_source source ON source.id = schedule.source_id
            WHERE schedule.due_at IS NOT NULL
            """,
            _recent(now) | {"gap": timedelta(hours=plan.longest_gap)},
        )
        [trouble] = rows_as(Trouble, cursor)
    return trouble


# Of a private source only the host, without the secret behind it.
ADDRESS = "CASE WHEN source.listed THEN source.url ELSE substring(source.url from '^https?://([^/?#]*)') END"


class Shares:
    """Sources that are to be asked, in an order: one query counts them, one reads some of them."""

    def __init__(self, words: str, sort: str, now: datetime) -> None:
        self._order = SORTS[sort]
        wanted = words.split()[:10]
        self._values = _recent(now) | {f"word{number}": _like(word) for number, word in enumerate(wanted)}
        self._where = " AND ".join(
            ["schedule.due_at IS NOT NULL"]
            + [f"(source.title || ' ' || {ADDRESS}) ILIKE %(word{number})s" for number in range(len(wanted))]
        )

    def count(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {TABLES} WHERE {self._where}", self._values)
            [count] = cursor.fetchone()
        return int(count)

    def read(self, start: int, end: int) -> list[Share]:
        limits = {"offset": start, "limit": end - start}
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                WITH made AS (
                    SELECT source_id, count(*) FILTER (WHERE outcome <> ALL(%(unasked)s)) AS retrievals,
                        sum(delay_seconds) / nullif(sum(dated), 0) AS mean_delay
                    FROM retrieval_retrieval WHERE fetched_at > %(since)s AND fetched_at <= %(now)s GROUP BY source_id
                )
                SELECT source.id AS source_id, coalesce(nullif(source.title, ''), {ADDRESS}) AS name,
                    coalesce(made.retrievals, 0) AS retrievals, profile.weekly, {WORTH} AS worth, made.mean_delay,
                    coalesce(schedule.first_due_at, schedule.due_at) AS due_at
                FROM {TABLES} LEFT JOIN made ON made.source_id = source.id
                WHERE {self._where} ORDER BY {self._order} LIMIT %(limit)s OFFSET %(offset)s
                """,
                self._values | limits,
            )
            return rows_as(Share, cursor)


def _recent(now: datetime) -> dict[str, Any]:
    return {"now": now, "since": now - RECENT, "unasked": list(UNASKED)}


def _like(word: str) -> str:
    for special in "\\%_":
        word = word.replace(special, f"\\{special}")
    return f"%{word}%"
