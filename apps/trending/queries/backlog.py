"""What has not been counted yet."""

from datetime import datetime

from apps.postings import waiting
from apps.postings.waiting import Backlog
from apps.trending.models import Change


def backlog(now: datetime) -> Backlog:
    return waiting.backlog(Change.objects.order_by("id"), now)
