"""What has not been grouped yet."""

from datetime import datetime

from apps.postings import waiting
from apps.postings.waiting import Backlog
from apps.stories.models import Change


def backlog(now: datetime) -> Backlog:
    return waiting.backlog(Change.objects.order_by("published_at", "posting_id", "id"), now)
