"""What no saved search has been tried on yet."""

from datetime import datetime

from apps.alerts.models import Change
from apps.postings import waiting
from apps.postings.waiting import Backlog


def backlog(now: datetime) -> Backlog:
    return waiting.backlog(Change.objects.order_by("id"), now)
