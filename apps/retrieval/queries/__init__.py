"""Reads of schedules and of the log of retrievals."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from apps.database.statements import query, query_as
from apps.retrieval.algorithms.robots import origin_of
from apps.retrieval.models import Crawl, Page, Plan, Retrieval, RobotsRules, Schedule
from apps.retrieval.planner.due_times import SAFETY_GAP
from apps.retrieval.planner.state import COST, HEADERS, TABLES, WORTH, parameters
from apps.sources import kinds
from apps.sources.algorithms.addresses import host
from apps.sources.kinds import delivered
from apps.sources.models import Source

MAX_DUE_ICONS = 500
ICONS_AT_ONCE = 8  # of a partition, searched one after another
ROBOTS_KEPT = timedelta(hours=24)  # RFC 9309, section 2.4
# Retrievals without a request.
UNREQUESTED = (Retrieval.Outcome.DEFERRED, Retrieval.Outcome.REFUSED, Retrieval.Outcome.PUSHED)
LONGEST_CHECK = timedelta(hours=1)  # from the response to its storage


@dataclass(frozen=True, slots=True)
class RetrievalTotals:
    retrievals: int
    not_modified: int
    failed: int
    new: int
    wire_bytes: int


def to_check() -> QuerySet[Source]:
    """Sources that are followed or always retrieved, and active."""
    wanted = Q(always_retrieved=True) | Q(follows__isnull=False) | Q(site__follows__isnull=False)
    return Source.objects.filter(wanted, state=Source.State.ACTIVE).exclude(kind__in=delivered()).distinct()


def schedule_of(source_id: int) -> Schedule | None:
    return Schedule.objects.filter(pk=source_id).first()


def schedule_at(url: str) -> Schedule | None:
    return Schedule.objects.filter(source__url=url).first()


def latest_retrievals(source_id: int, limit: int = 50) -> list[Retrieval]:
    return list(Retrieval.objects.filter(source_id=source_id).order_by("-fetched_at")[:limit])


def failing() -> QuerySet[Schedule]:
    return Schedule.objects.filter(failing_since__isnull=False)


def daily_totals(now: datetime) -> RetrievalTotals:
    """Retrievals of the last 24 hours and their results."""
    outcome = Retrieval.Outcome
    totals = Retrieval.objects.filter(fetched_at__gt=now - timedelta(days=1)).aggregate(
        retrievals=Count("pk", filter=~Q(outcome=outcome.PUSHED)),
        not_modified=Count("pk", filter=Q(outcome=outcome.NOT_MODIFIED)),
        failed=Count("pk", filter=Q(outcome__in=[outcome.FAILED, outcome.NOT_A_FEED, outcome.REFUSED, outcome.GONE])),
        new=Sum("new", default=0),
        wire_bytes=Sum("wire_bytes", default=0),
    )
    return RetrievalTotals(**totals)


# A search occupies its host for some seconds, so none begins shortly before a check. Replayed hosts answer at once.
_DUE_ICONS = f"""
SELECT partition, (array_agg(id ORDER BY icon_due_at DESC))[:{ICONS_AT_ONCE}] FROM (
    SELECT source.id, partition, icon_due_at
    FROM sources_source source JOIN retrieval_schedule schedule ON source_id = source.id
    WHERE icon_due_at <= %(now)s AND site_id IS NULL AND source.state = 'active' AND observed_at IS NOT NULL
        AND (due_at IS NULL OR due_at > %(now)s + interval '1 minute' / clock_rate)
    ORDER BY icon_due_at DESC LIMIT {MAX_DUE_ICONS}
) due GROUP BY partition
"""


def due_icons(now: datetime) -> list[tuple[int, list[int]]]:
    """Some retrieved sources whose icons are to be looked for, by partition; new ones first."""
    return [tuple(row) for row in query(_DUE_ICONS, {"now": now})]


@dataclass(frozen=True, slots=True)
class Results:
    """What the checks of some sources have found."""

    waiting: int  # sources without a result
    failed: int  # sources
    new: int  # postings


_RESULTS = """
SELECT count(*) FILTER (WHERE checks.made IS NULL) AS waiting, count(*) FILTER (WHERE NOT checks.observed) AS failed,
    coalesce(sum(checks.new), 0)::int AS new
FROM unnest(%(ids)s::bigint[]) wanted (source_id) CROSS JOIN LATERAL (
    SELECT nullif(count(*), 0) AS made, bool_or(outcome = ANY(%(observing)s)) AS observed, sum(new) AS new
    FROM retrieval_retrieval WHERE source_id = wanted.source_id AND outcome <> %(deferred)s
        AND fetched_at > %(since)s - %(longest)s AND stored_at > %(since)s
) checks
"""


def results_since(source_ids: Collection[int], since: datetime) -> Results:
    """The results that were stored since a time; deferred checks have none yet."""
    outcome = Retrieval.Outcome
    observing = [outcome.NEW, outcome.UNCHANGED, outcome.NOT_MODIFIED, outcome.PUSHED]
    values = {"ids": list(source_ids), "observing": observing, "deferred": outcome.DEFERRED, "since": since}
    [results] = query_as(Results, _RESULTS, values | {"longest": LONGEST_CHECK})
    return results


def fresh_robots(addresses: Iterable[str], now: datetime) -> dict[str, str]:
    """The robots.txt files of these addresses' sites that are known and not a day old, by origin."""
    origins = {origin_of(address) for address in addresses}
    known = RobotsRules.objects.filter(origin__in=origins, fetched_at__gt=now - ROBOTS_KEPT)
    return dict(known.values_list("origin", "body"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The sources to check."""

    count: int
    clock_rates: float  # sum over them: hours of their own time per hour of real time

    @property
    def mean_clock_rate(self) -> float:
        return self.clock_rates / self.count if self.count else 1.0


def wanted() -> Wanted:
    totals = Source.objects.filter(pk__in=to_check().values("pk")).aggregate(
        count=Count("pk"), clock_rates=Sum("clock_rate", default=0.0)
    )
    return Wanted(**totals)


def hourly_budget(plan: Plan, wanted: Wanted) -> float:
    """Retrievals per hour of real time, or kilobytes, that the plan allows for all sources together."""
    units_per_hour = {Plan.Unit.SOURCE_DAY: wanted.clock_rates / 24, Plan.Unit.DAY: 1 / 24, Plan.Unit.HOUR: 1.0}
    return plan.budget * units_per_hour[Plan.Unit(plan.unit)]


# Sources with a profile, and those among them without push.
KNOWN = "schedule.due_at IS NOT NULL AND profile.source_id IS NOT NULL"
TO_BE_PLANNED = f"{KNOWN} AND (schedule.pushed_until > %(now)s) IS NOT TRUE"
# The same, and those that were never retrieved.
TO_BE_PRICED = f"""({TO_BE_PLANNED} OR schedule.due_at IS NOT NULL AND profile.source_id IS NULL
    AND schedule.observed_at IS NULL AND schedule.consecutive_failures = 0)"""


@dataclass(frozen=True, slots=True)
class Announced:
    """The sources with push, whose postings do not wait for retrievals."""

    clock_rates: float  # sum over them: hours of their own time per hour of real time
    costs: float  # sum over them: what a retrieval in each hour of theirs takes of the budget
    postings: float  # expected per hour of real time

    @property
    def spent(self) -> float:
        """What safety checks, in case an update is missed, take of the budget per hour of real time."""
        return self.costs / SAFETY_GAP


def announced(now: datetime) -> Announced:
    [announced] = query_as(
        Announced,
        f"""
        SELECT coalesce(sum(source.clock_rate), 0)::float8 AS clock_rates,
            coalesce(sum(source.clock_rate * {COST}), 0)::float8 AS costs,
            coalesce(sum(profile.weekly * source.clock_rate), 0)::float8 / 168 AS postings
        FROM {TABLES} WHERE {KNOWN} AND schedule.pushed_until > %(now)s
        """,
        {"now": now},
    )
    return announced


def budget_left(plan: Plan, announced: Announced) -> float:
    """The budget per hour of real time for the sources without push; at least a hundredth of all."""
    budget = hourly_budget(plan, wanted())
    return max(budget - announced.spent, budget / 100)


def spent(plan: Plan, since: datetime, until: datetime) -> float:
    """What the retrievals within (since, until] took of the budget."""
    made = requested(since, until).aggregate(requests=Count("pk"), bytes=Sum("wire_bytes", default=0))
    is_in_bytes = plan.counted == Plan.Counted.BYTES
    return float((made["bytes"] + HEADERS * made["requests"]) / 1_000 if is_in_bytes else made["requests"])


def usual_cost() -> float:
    """What a retrieval takes of the budget, on average over the scheduled sources."""
    [(mean,)] = query(f"SELECT avg({COST})::float8 FROM {TABLES} WHERE schedule.due_at IS NOT NULL")
    return mean or 1.0


def requested(since: datetime, until: datetime) -> QuerySet[Retrieval]:
    """Retrievals within (since, until] with a request."""
    return Retrieval.objects.filter(fetched_at__gt=since, fetched_at__lte=until).exclude(outcome__in=UNREQUESTED)


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of postings, in the sources' own time."""

    postings: int
    mean: float | None  # s; None when there are none
    longest: float  # s


def delays(since: datetime, until: datetime) -> Delays:
    totals = Retrieval.objects.filter(fetched_at__gt=since, fetched_at__lte=until).aggregate(
        postings=Sum("dated", default=0),
        seconds=Sum("delay_seconds", default=0.0),
        longest=Max("longest_delay_seconds", default=0.0),
    )
    mean = totals["seconds"] / totals["postings"] if totals["postings"] else None
    return Delays(totals["postings"], mean, totals["longest"])


# Schedules that a new plan may move: waiting ones that neither a user nor a publisher requested, of sources with a
# profile whose latest retrieval succeeded. Those that have become due (`first_due_at`) are claimed, begun or deferred.
MOVABLE = """schedule.due_at IS NOT NULL AND schedule.worker = '' AND schedule.first_due_at IS NULL
    AND schedule.consecutive_failures = 0
    AND schedule.observed_at IS NOT NULL AND profile.source_id IS NOT NULL AND schedule.reason <> ALL(%(requested)s)"""
USER_REQUEST = "requested by a user"
ANNOUNCED = "its publisher announced an update"
MOVABLE_VALUES: dict[str, Any] = {"requested": [USER_REQUEST, ANNOUNCED]}


def movable(source_ids: Iterable[int] | None = None) -> list[int]:
    """Sources whose due time a new plan may move, in ascending order; of some, or of all."""
    return _ids(
        f"SELECT source.id FROM {TABLES} WHERE {MOVABLE} AND (%(ids)s::bigint[] IS NULL OR source.id = ANY(%(ids)s))",
        ids=None if source_ids is None else list(source_ids),
    )


def planned_otherwise(source_ids: Iterable[int], *, by_timetable: bool = False) -> list[int]:
    """Those of the sources and their index pages whose worth has changed by more than 1 % since they were planned.

    Also those with a shortest gap of their own, which may have changed, or due within it; and under a policy with
    timetables those without one.
    """
    return _ids(
        f"""SELECT id FROM (
            SELECT source.id, schedule.worth, {WORTH} AS present, source.min_gap, profile.timetable,
                schedule.due_at < schedule.observed_at
                    + make_interval(secs => coalesce(source.min_gap, %(min_gap)s) / source.clock_rate) AS is_early
            FROM {TABLES} WHERE source.id IN (
                SELECT unnest(%(ids)s::bigint[]) UNION SELECT id FROM sources_source WHERE site_id = ANY(%(ids)s)
            ) AND profile.source_id IS NOT NULL
        ) planned WHERE abs(present - worth) > 0.01 * worth OR min_gap IS NOT NULL OR is_early
            OR %(by_timetable)s AND timetable = ''""",
        **parameters(ids=list(source_ids), by_timetable=by_timetable),
    )


def _ids(statement: str, **parameters: Any) -> list[int]:
    return [source_id for (source_id,) in query(f"{statement} ORDER BY 1", MOVABLE_VALUES | parameters)]


def waiting_pages(source_id: int, now: datetime) -> QuerySet[Page]:
    """Pages of a source that may be fetched now, the most promising first."""
    return Page.objects.filter(source_id=source_id, due_at__lte=now).order_by("-priority", "pk")


def due_crawls(now: datetime, most: int) -> list[tuple[int, int | None]]:
    """Sources whose pages may be fetched now, with their partitions: at most `most`, less those being crawled."""
    leased = Crawl.objects.filter(leased_until__gt=now).count()
    free = Crawl.objects.filter(Q(leased_until__isnull=True) | Q(leased_until__lte=now), due_at__lte=now)
    return list(free.order_by("due_at").values_list("pk", "source__schedule__partition")[: max(0, most - leased)])


def crawl_of(source_id: int) -> Crawl | None:
    return Crawl.objects.filter(pk=source_id).first()


def pages_of(source_id: int, *, kind: str = "", words: str = "") -> QuerySet[Page]:
    """The known pages of a source, the latest fetch first."""
    pages = Page.objects.filter(source_id=source_id)
    if kind:
        pages = pages.filter(kind=kind)
    for word in words.split()[:10]:
        pages = pages.filter(Q(url__icontains=word) | Q(link_text__icontains=word))
    return pages.order_by(F("fetched_at").desc(nulls_last=True), "-priority", "pk")


def page_counts(source_id: int) -> dict[str, tuple[int, int]]:
    """How many pages of each kind are known, and how many of these wait to be fetched."""
    counted = Page.objects.filter(source_id=source_id).order_by("kind").values("kind")
    rows = counted.annotate(count=Count("pk"), waiting=Count("pk", filter=Q(due_at__isnull=False)))
    return {row["kind"]: (row["count"], row["waiting"]) for row in rows}


def index_pages_of(site_id: int) -> QuerySet[Source]:
    """The index pages of a site that are retrieved like feeds, with their schedules."""
    return Source.objects.filter(site_id=site_id).select_related("schedule").order_by("url")


# --- splits of jobs ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Slice:
    """Postings of a source with kept pages, from the first to the last id."""

    source_id: int
    host: str
    first: int
    last: int
    pages: int


_KEPT_PAGES = """
WITH numbered AS (
    SELECT id, source_id, (row_number() OVER (PARTITION BY source_id ORDER BY id) - 1) / %(most)s AS slice
    FROM postings_posting WHERE document <> '' AND (%(source_id)s::bigint IS NULL OR source_id = %(source_id)s)
        AND (NOT %(of_sites)s OR source_id IN (SELECT id FROM sources_source WHERE kind = %(site)s))
)
SELECT source_id, url, min(numbered.id) AS first, max(numbered.id) AS last, count(*) AS pages
FROM numbered JOIN sources_source source ON source.id = source_id GROUP BY source_id, url, slice
ORDER BY source_id, first
"""


def kept_pages(most: int, source_id: int | None = None, *, of_sites: bool = False) -> list[Slice]:
    """All kept pages, of one source or of all, or of crawled sites alone, in slices of at most `most`."""
    values = {"most": most, "source_id": source_id, "of_sites": of_sites, "site": kinds.SITE}
    rows = query(_KEPT_PAGES, values)
    return [Slice(row.source_id, host(row.url), row.first, row.last, row.pages) for row in rows]


@dataclass(frozen=True, slots=True)
class WaitingSite:
    source_id: int
    host: str
    pages: int  # that wait and may be fetched today


def sites_to_crawl(now: datetime, partition: int | None = None) -> list[WaitingSite]:
    """Sites whose pages wait, of one partition or of all."""
    crawls = Crawl.objects.filter(due_at__lte=now, source__in=to_check())
    if partition is not None:
        crawls = crawls.filter(source__schedule__partition=partition)
    waiting = Count("source__pages", filter=Q(source__pages__due_at__lte=now))
    rows = crawls.annotate(waiting=waiting).filter(waiting__gt=0).order_by("pk")
    return [
        WaitingSite(crawl.pk, host(crawl.source.url), min(crawl.waiting, crawl.pages_per_day))
        for crawl in rows.select_related("source")
    ]
