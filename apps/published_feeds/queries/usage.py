"""Reads of requested feeds."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.published_feeds.models import RequestedFeed


def hubs() -> tuple[str, ...]:
    """Addresses of the hubs that are notified of new entries."""
    return tuple(settings.PUBLISHING_HUBS)


def free(now: datetime) -> Q:
    """No process holds the lease, or it has expired."""
    return Q(lease_until=None) | Q(lease_until__lte=now)


def due(now: datetime, limit: int) -> Sequence[int]:
    """The feeds that are due for a check, the longest overdue first."""
    rows: QuerySet[RequestedFeed] = RequestedFeed.objects.filter(free(now), due_at__lte=now)
    return list(rows.order_by("due_at").values_list("pk", flat=True)[:limit])
