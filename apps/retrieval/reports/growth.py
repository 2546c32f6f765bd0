"""How many postings came, day by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDate

from apps.retrieval.models import Retrieval


@dataclass(frozen=True, slots=True)
class Stored:
    day: date  # UTC
    postings: int


def stored_by_day(now: datetime, days: int) -> Sequence[Stored]:
    """The last days as far as the log goes back, today included and every one of them present. One query."""
    first = (now - timedelta(days=days - 1)).astimezone(UTC).date()
    rows = (
        Retrieval.objects.filter(fetched_at__gte=datetime(first.year, first.month, first.day, tzinfo=UTC))
        .filter(fetched_at__lte=now, new__gt=0)
        .annotate(day=TruncDate("fetched_at", tzinfo=UTC))
        .values("day")
        .order_by("day")
        .annotate(postings=Sum("new"))
        .values_list("day", "postings")
    )
    known = dict(rows)
    return [Stored(day, known.get(day, 0)) for day in (first + timedelta(days=number) for number in range(days))]
