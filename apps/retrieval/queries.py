"""Reads of schedules and of the log of retrievals."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet, Sum

from apps.retrieval.models import Retrieval, RobotsRules, Schedule
from apps.retrieval.robots import origin_of
from apps.sources.models import Source

ROBOTS_KEPT = timedelta(hours=24)  # RFC 9309, section 2.4


@dataclass(frozen=True, slots=True)
class RetrievalTotals:
    retrievals: int
    not_modified: int
    failed: int
    new: int
    wire_bytes: int


def to_be_asked() -> QuerySet[Source]:
    """Sources that somebody wants and nothing stops."""
    wanted = Q(always_retrieved=True) | Q(follows__isnull=False)
    return Source.objects.filter(wanted, state=Source.State.ACTIVE).distinct()


def schedule_of(source_id: int) -> Schedule | None:
    return Schedule.objects.filter(pk=source_id).first()


def schedule_at(url: str) -> Schedule | None:
    return Schedule.objects.filter(source__url=url).first()


def latest_retrievals(source_id: int, limit: int = 50) -> list[Retrieval]:
    return list(Retrieval.objects.filter(source_id=source_id).order_by("-fetched_at")[:limit])


def failing() -> QuerySet[Schedule]:
    return Schedule.objects.filter(failing_since__isnull=False)


def daily_totals(now: datetime) -> RetrievalTotals:
    """What the last 24 hours cost and brought."""
    outcome = Retrieval.Outcome
    totals = Retrieval.objects.filter(fetched_at__gt=now - timedelta(days=1)).aggregate(
        retrievals=Count("pk"),
        not_modified=Count("pk", filter=Q(outcome=outcome.NOT_MODIFIED)),
        failed=Count("pk", filter=Q(outcome__in=[outcome.FAILED, outcome.NOT_A_FEED, outcome.REFUSED, outcome.GONE])),
        new=Sum("new", default=0),
        wire_bytes=Sum("wire_bytes", default=0),
    )
    return RetrievalTotals(**totals)


def fresh_robots(addresses: Iterable[str], now: datetime) -> dict[str, str]:
    """The robots.txt files of these addresses' sites that are known and not a day old, by origin."""
    origins = {origin_of(address) for address in addresses}
    known = RobotsRules.objects.filter(origin__in=origins, fetched_at__gt=now - ROBOTS_KEPT)
    return dict(known.values_list("origin", "body"))
