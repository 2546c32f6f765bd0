"""Backlogs of the outboxes that triggers fill for search, trends and the like."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Min, Model, QuerySet
from django.db.models.functions import Coalesce, Greatest

from apps.postings.models import Posting

MAX_COUNTED = 100_000  # rows
SAMPLE = 100  # first rows of an outbox, as some are of deleted postings


@dataclass(frozen=True, slots=True)
class Backlog:
    length: int  # up to MAX_COUNTED
    seconds: float  # age of the oldest row; 0 for an empty outbox


def backlog(changes: QuerySet[Any, Model], now: datetime) -> Backlog:
    """The backlog of an outbox that is ordered by age and has a `posting_id`."""
    first = list(changes.values_list("posting_id", flat=True)[:SAMPLE])
    if not first:
        return Backlog(0, 0.0)
    changed_at = Greatest("retrieved_at", Coalesce("edited_at", "retrieved_at"))
    oldest = Posting.objects.filter(pk__in=first).aggregate(oldest=Min(changed_at))["oldest"]
    seconds = max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
    return Backlog(changes.order_by()[:MAX_COUNTED].count(), seconds)
