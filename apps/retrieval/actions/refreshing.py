"""Checks that readers request: ordinary retrievals before their planned time.

Politeness applies as always, and they use up the budget like all others: the price follows the requests that were sent.
All followers share one check, because a source that is due or being checked is not requested again.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.database.statements import among, query
from apps.retrieval import queries
from apps.retrieval.actions.plan import current_plan
from apps.retrieval.actions.planning import earliest_check, wake_beat
from apps.retrieval.models import Schedule
from apps.retrieval.planner.state import TABLES

MAX_AT_ONCE = 20  # sources
MAX_CHECKS, WITHIN = 60, 3_600  # per user; seconds
BUDGET_SHARE = 0.25  # of the plan's retrievals, for all readers together
DAY = 86_400  # s
BUDGET_CACHE_SECONDS = 600

Limit = Literal["", "reader", "budget"]


@dataclass(frozen=True, slots=True)
class Refresh:
    checking: list[int]  # sources that are due or being checked
    next: Schedule | None  # of the others, the one that is due first
    again_at: datetime | None  # when politeness allows a check of that one
    limit: Limit  # why no more are checked


_WAITS = "schedule.due_at > %(now)s AND schedule.worker = '' AND schedule.dispatched_at IS NULL"
# Those with the most postings expected since their latest observation. Only then locked, in one order for all callers;
# what another reader has requested meanwhile no longer waits.
_ALLOWED = f"""
WITH likely AS MATERIALIZED (
    SELECT source.id, coalesce(extract(epoch FROM %(now)s - observed_at)::float8 * clock_rate * profile.weekly
        * activity_seen / activity_expected, 'infinity') AS expected
    FROM {TABLES}
    WHERE source.id = ANY(%(ids)s) AND source.state = 'active' AND {_WAITS}
        AND coalesce(greatest(earliest_at, not_before,
            requested_at + make_interval(secs => coalesce(min_gap, %(min_gap)s) / clock_rate)), %(now)s) <= %(now)s
        AND skip_hours & %(hour)s = 0 AND skip_days & %(weekday)s = 0
    ORDER BY expected DESC, source.id LIMIT %(most)s
)
SELECT source_id, expected FROM likely JOIN retrieval_schedule schedule ON source_id = likely.id
WHERE {_WAITS} ORDER BY source_id FOR UPDATE OF schedule
"""


def refresh(user: User, source_ids: Collection[int], *, now: datetime) -> Refresh:
    """Check now, of these sources, the likeliest ones to have news, as far as politeness and limits allow."""
    limit = _request_checks(user, source_ids, now)
    schedules = Schedule.objects.filter(pk__in=among(source_ids), due_at__isnull=False).select_related("source")
    rows = list(schedules.order_by("due_at", "pk"))
    checking = [row.pk for row in rows if row.worker or row.dispatched_at or (row.due_at or now) <= now]
    following = next((row for row in rows if row.pk not in checking), None)
    again_at = earliest_check(following, now) if following else None
    return Refresh(checking, following, again_at, limit)


@transaction.atomic
def _request_checks(user: User, source_ids: Collection[int], now: datetime) -> Limit:
    values: dict[str, Any] = {
        "ids": list(source_ids),
        "now": now,
        "min_gap": settings.RETRIEVAL_MIN_GAP,
        "hour": 1 << now.hour,
        "weekday": 1 << now.weekday(),
        "most": MAX_AT_ONCE,
    }
    limit: Limit = ""
    granted = []
    for source_id, _ in sorted(query(_ALLOWED, values), key=lambda row: row.expected, reverse=True):
        if limit := _limit(user):
            break
        granted.append(source_id)
    if granted:
        Schedule.objects.filter(pk__in=granted).update(due_at=now, reason=queries.USER_REQUEST)
        wake_beat([now], now)
    return limit


def _limit(user: User) -> Limit:
    """Count a check; the limit that it exceeds, if any."""
    if not rate_limits.is_within("refresh", user.pk, most=MAX_CHECKS, seconds=WITHIN):
        return "reader"
    budget: float = cache.get_or_set("refresh.budget", _daily_budget, BUDGET_CACHE_SECONDS) or 0.0
    return "" if rate_limits.is_within("refresh", "all", most=int(BUDGET_SHARE * budget), seconds=DAY) else "budget"


def _daily_budget() -> float:
    """Checks that the plan allows in a day."""
    return 24 * queries.hourly_budget(current_plan(), queries.wanted()) / queries.usual_cost()
