"""What search has not read yet."""

from datetime import datetime

from apps.postings import waiting
from apps.postings.waiting import Backlog
from apps.search.models import Change


def backlog(now: datetime) -> Backlog:
    """Postings that were added, edited or deleted; those that are only read anew, as people asked, do not count."""
    return waiting.backlog(Change.objects.filter(anew=False).order_by("id"), now)
