"""How much of what changed still waits for search, trends and the like, which note it by triggers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Min, Model, QuerySet
from django.db.models.functions import Coalesce, Greatest

from apps.postings.models import Posting

MAX_COUNTED = 100_000  # a longer queue is not counted to its end
LOOKED_AT = 100  # the first changes of a queue, since some are of postings that were deleted


@dataclass(frozen=True, slots=True)
class Backlog:
    length: int  # up to MOST_COUNTED
    seconds: float  # how long the oldest change waits; 0 when none does


def backlog(changes: QuerySet[Any, Model], now: datetime) -> Backlog:
    """What waits among changes that are in the order of their turns and have a `posting_id`."""
    first = list(changes.values_list("posting_id", flat=True)[:LOOKED_AT])
    if not first:
        return Backlog(0, 0.0)
    changed_at = Greatest("retrieved_at", Coalesce("edited_at", "retrieved_at"))
    oldest = Posting.objects.filter(pk__in=first).aggregate(oldest=Min(changed_at))["oldest"]
    seconds = max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
    return Backlog(changes.order_by()[:MAX_COUNTED].count(), seconds)
