"""Reads of feeds that somebody asked for."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.published_feeds.models import RequestedFeed


def hubs() -> tuple[str, ...]:
    """Addresses of the hubs that are told what is new here."""
    return tuple(settings.PUBLISHING_HUBS)


def free(now: datetime) -> Q:
    """Nobody is at it, or nobody any longer."""
    return Q(lease_until=None) | Q(lease_until__lte=now)


def due(now: datetime, most: int) -> Sequence[int]:
    """The feeds that are to be looked at, those first that waited longest."""
    rows: QuerySet[RequestedFeed] = RequestedFeed.objects.filter(free(now), due_at__lte=now)
    return list(rows.order_by("due_at").values_list("pk", flat=True)[:most])
