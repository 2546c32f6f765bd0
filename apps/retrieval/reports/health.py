"""Figures of the health of retrieval that are cheap enough for metrics."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Sum

from apps.database.statements import query
from apps.retrieval.models import Retrieval, Schedule

MAX_COUNTED = 100_000  # sources


@dataclass(frozen=True, slots=True)
class RetrievalHealth:
    """Retrievals of one outcome."""

    count: int
    dated: int  # new postings whose delay is known
    delay_seconds: float  # the sum over them, in their sources' time
    longest_delay_seconds: float


def retrieval_health(since: datetime, until: datetime) -> dict[str, RetrievalHealth]:
    """The retrievals within (since, until] by outcome, all outcomes included."""
    made = Retrieval.objects.filter(fetched_at__gt=since, fetched_at__lte=until).order_by("outcome").values("outcome")
    rows = made.annotate(
        n=Count("pk"), postings=Sum("dated"), seconds=Sum("delay_seconds"), longest=Max("longest_delay_seconds")
    )
    found = {row["outcome"]: RetrievalHealth(row["n"], row["postings"], row["seconds"], row["longest"]) for row in rows}
    return dict.fromkeys(Retrieval.Outcome.values, RetrievalHealth(0, 0, 0.0, 0.0)) | found


@dataclass(frozen=True, slots=True)
class Waiting:
    planned: int  # sources with a due time
    failing: int  # up to MAX_COUNTED
    dispatched_ago: float | None  # s since the latest source was handed out; None before the first one


def waiting(now: datetime) -> Waiting:
    latest = Retrieval.objects.order_by("-fetched_at").values_list("dispatched_at", flat=True).first()
    return Waiting(
        planned=_estimated_planned(),
        failing=Schedule.objects.filter(failing_since__isnull=False)[:MAX_COUNTED].count(),
        dispatched_ago=max(timedelta(), now - latest).total_seconds() if latest else None,
    )


def _estimated_planned() -> int:
    """The row count of the partial index when it was last analysed; an exact count where there are few."""
    planned = Schedule.objects.filter(due_at__isnull=False)
    if (counted := planned[:MAX_COUNTED].count()) < MAX_COUNTED:
        return counted
    [(estimated,)] = query("SELECT reltuples::bigint FROM pg_class WHERE oid = 'schedule_due'::regclass")
    return max(counted, int(estimated))
