"""How late retrievals are, in numbers: of those that are made, and of those that are due."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Count, Sum

from apps.database.statements import query, query_as
from apps.retrieval.models import LatenessBucket, Retrieval, Schedule, UnmatchedClaims
from apps.retrieval.queries import UNREQUESTED
from apps.retrieval.queries.lateness import BEGUN, BUCKETS, DELAY, DUE, OVERDUE_AFTER, STORED, WAITED, Late
from apps.retrieval.scheduler.claims import MAX_SILENCE_SECONDS

MAX_COUNTED = 100_000  # sources
LATE_SECONDS = 3.0
REASONS = ("begun", "deleted", "paused", "superseded", "uncommitted")  # of claims that match no row


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds; all 0 without any retrieval. Percentiles are not interpolated."""

    p50: float = 0.0
    p99: float = 0.0
    longest: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Lateness:
    """Of retrievals that were made in a while, and of all that are due at its end and not stored."""

    retrievals: int
    not_stored: int  # of them
    late: int  # of them: begun later than LATE_SECONDS
    begun: Spread
    stored: Spread


def _spread(seconds: str) -> str:
    percentiles = f"percentile_disc(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY {seconds})"
    spread = f"{percentiles} || max({seconds}) || sum({seconds})"
    return f"CASE WHEN count({seconds}) = 0 THEN '{{{{}}}}' ELSE {spread} END AS {seconds}"


_LATENESS = f"""
WITH late AS (
    SELECT {BEGUN} AS begun, {STORED} AS stored, true AS is_made FROM retrieval_retrieval retrieval
    WHERE {{made}} AND outcome <> ALL(%(unasked)s)
    UNION ALL SELECT {WAITED}, {WAITED}, false FROM ({DUE}) due WHERE {{due}})
SELECT count(*) AS retrievals, count(*) FILTER (WHERE NOT is_made) AS not_stored,
    count(*) FILTER (WHERE begun > {LATE_SECONDS}) AS late, {_spread("begun")}, {_spread("stored")}
FROM late
"""


def lateness(since: datetime, now: datetime) -> Lateness:
    """Of all sources; one query."""
    return lateness_where("fetched_at > %(since)s AND fetched_at <= %(now)s", "TRUE", since=since, now=now)


def lateness_of_source(source_id: int, since: datetime, now: datetime) -> Lateness:
    """Of one source; one query."""
    made = "source_id = %(id)s AND fetched_at > %(since)s AND fetched_at <= %(now)s"
    return lateness_where(made, "source_id = %(id)s", since=since, now=now, id=source_id)


def lateness_where(made: str, due: str, **values: Any) -> Lateness:
    """Of retrievals that are made under the first condition in SQL, and due under the second."""
    [late] = query(_LATENESS.format(made=made, due=due), values | {"unasked": list(UNREQUESTED)})
    return Lateness(late.retrievals, late.not_stored, late.late, Spread(*late.begun), Spread(*late.stored))


@dataclass(frozen=True, slots=True)
class Overdue:
    """Retrievals that were first due longer ago than `OVERDUE_AFTER` and are not stored; up to MAX_COUNTED."""

    count: int
    longest: float  # s for which the oldest due retrieval has been due, overdue or not; 0 without any
    unclaimed: int  # of the overdue: no beat has claimed them
    unbegun: int  # claimed, and no worker has begun them
    under_way: int  # a worker has begun them
    deferred: int  # put off, since their host was busy or their worker ended
    workers: int  # alive


_OVERDUE = f"""
WITH due AS ({DUE} ORDER BY since LIMIT %(limit)s),
overdue AS (SELECT * FROM due WHERE since < %(now)s - %(overdue_after)s)
SELECT count(*) AS count, (SELECT coalesce(max({WAITED}), 0) FROM due) AS longest,
    count(*) FILTER (WHERE worker = '' AND dispatched_at IS NULL AND due_at <= %(now)s) AS unclaimed,
    count(*) FILTER (WHERE worker = '' AND dispatched_at IS NOT NULL) AS unbegun,
    count(*) FILTER (WHERE worker <> '') AS under_way,
    count(*) FILTER (WHERE worker = '' AND dispatched_at IS NULL AND due_at > %(now)s) AS deferred,
    (SELECT count(*) FROM retrieval_worker
        WHERE seen_at > statement_timestamp() - make_interval(secs => %(silence)s)) AS workers
FROM overdue
"""


def overdue(now: datetime) -> Overdue:
    """One query. Whether workers are alive is decided by the database's clock, which their heartbeats use."""
    values: dict[str, Any] = {"overdue_after": OVERDUE_AFTER, "limit": MAX_COUNTED, "silence": MAX_SILENCE_SECONDS}
    [overdue] = query_as(Overdue, _OVERDUE, values | {"now": now})
    return overdue


@dataclass(frozen=True, slots=True)
class Histogram:
    """Since the portal began."""

    buckets: tuple[tuple[float, int], ...]  # upper bounds in s, and how many retrievals were at most so late
    seconds: float  # the sum of their lateness


def histograms() -> dict[str, Histogram]:
    """By stage; one query."""
    rows = LatenessBucket.objects.order_by("stage", "upper_seconds").values("stage", "upper_seconds")
    summed = rows.annotate(Sum("count"), Sum("seconds"))
    known = {(row["stage"], row["upper_seconds"]): (row["count__sum"], row["seconds__sum"]) for row in summed}
    return {stage: _histogram(stage, known) for stage in (*Late._fields, DELAY)}


def _histogram(stage: str, known: Mapping[tuple[str, float], tuple[int, float]]) -> Histogram:
    parts = [known.get((stage, upper), (0, 0.0)) for upper in BUCKETS]
    counts = accumulate(count for count, _ in parts)
    return Histogram(tuple(zip(BUCKETS, counts, strict=True)), sum(seconds for _, seconds in parts))


def unmatched_claims() -> dict[str, int]:
    """How many claims in messages matched no row, by reason, since the portal began; one query."""
    return dict.fromkeys(REASONS, 0) | dict(UnmatchedClaims.objects.values_list("reason", "count"))


def uncommitted_since(since: datetime) -> bool:
    """Whether a message was published before its claim was visible; one query."""
    return UnmatchedClaims.objects.filter(reason="uncommitted", latest_at__gt=since).exists()


def recent(now: datetime) -> Lateness:
    """Of the last 24 hours."""
    return lateness(now - timedelta(days=1), now)


# --- health, cheap enough for metrics ---------------------------------------------------------------------------------
def counts_by_outcome(since: datetime, until: datetime) -> dict[str, int]:
    """How many retrievals within (since, until] had each outcome, all outcomes included."""
    made = Retrieval.objects.filter(fetched_at__gt=since, fetched_at__lte=until).order_by("outcome").values("outcome")
    return dict.fromkeys(Retrieval.Outcome.values, 0) | dict(made.annotate(n=Count("pk")).values_list("outcome", "n"))


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
