"""How late checks are, for staff, and the likely causes."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from apps.retrieval.reports.lateness import Overdue, overdue, recent, uncommitted_since
from apps.web.pages import Context

P99_LIMIT = 60.0  # s
DAY = timedelta(days=1)


def lateness_now(now: datetime) -> Context:
    """Three queries."""
    due, late = overdue(now), recent(now)
    return {
        "recent": late,  # of the last 24 hours
        "overdue": due,
        "causes": tuple(_causes(due, was_uncommitted=uncommitted_since(now - DAY))),
        "is_late": bool(due.count) or late.stored.p99 > P99_LIMIT,
    }


def _causes(due: Overdue, *, was_uncommitted: bool) -> Iterator[str]:
    if due.count and not due.workers:
        yield _("No retrieval worker is running.")
    for number, words in (
        (due.unclaimed, _("{number} not claimed: beat is not running or cannot keep up.")),
        (due.workers and due.unbegun, _("{number} claimed but not started: retrieval workers cannot keep up.")),
        (due.under_way, _("{number} started but not stored: servers or the database are slow.")),
        (due.deferred, _("{number} postponed: too many feeds share a host, or their worker stopped.")),
    ):
        if number:
            yield words.format(number=f"{number:,}")
    if was_uncommitted:
        yield _("Messages were published before their claims were committed.")
