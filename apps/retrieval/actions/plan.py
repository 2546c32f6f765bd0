"""The one plan: the budget of all sources together, and the price that keeps to it."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.database.statements import execute, query
from apps.retrieval import queries
from apps.retrieval.algorithms.planner.price import controlled_price
from apps.retrieval.models import Plan
from apps.retrieval.policies import all_policies, pages_policies, policy_of
from apps.sources.actions import PROGRAM, By, decision, note
from apps.sources.models import AuditEntry

HOUR = 3_600.0  # s
DAY_HOURS = 24.0
LEARNING, PLANNING = 0x4C4541524E, 0x504C414E  # advisory locks


def current_plan() -> Plan:
    return Plan.objects.get_or_create(pk=1)[0]


@transaction.atomic
def change_plan(*, by: By = PROGRAM, **given: str | float | None) -> Plan:
    """Change `policy`, `pages_policy`, `budget`, `unit`, `longest_gap` (h) or `interest_share`, but not to None.

    Within a minute all due times follow; changes are recorded for `by`. Raises ValueError, without any change, for a
    value that the plan cannot have.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for name, value in values.items():
        if problem := _problem(name, value):
            raise ValueError(problem)
    current_plan()
    plan = Plan.objects.select_for_update().get(pk=1)
    if all(getattr(plan, name) == value for name, value in values.items()):
        return plan
    Plan.objects.filter(pk=1).update(**values, revision=plan.revision + 1, changed_at=Now())
    note(
        [
            decision(AuditEntry.What.PLAN, f"{getattr(plan, name)}", f"{value}", name=name.replace("_", " "))
            for name, value in values.items()
            if getattr(plan, name) != value
        ],
        by,
    )
    return Plan.objects.get(pk=1)


def _problem(name: str, value: Any) -> str:
    """Why the plan cannot have a value; "" if it can."""
    match name:
        case "policy" if value not in all_policies():
            return f"there is no policy {value!r}"
        case "pages_policy" if value not in pages_policies():
            return f"there is no policy {value!r} for pages"
        case "unit" if value not in Plan.Unit.values:
            return f"a budget is per {', '.join(Plan.Unit.values)}, not per {value!r}"
        case "budget" if not 0 < value < math.inf:
            return f"the budget must be positive, not {value}"
        case "longest_gap" if not 1 <= value <= 168:
            return f"the longest gap must be between 1 and 168 hours, not {value}"
        case "interest_share" if not 0 <= value <= 0.5:
            return f"the alert priority share must be between 0 and 0.5, not {value}"
    return ""


def control_price(*, now: datetime) -> float | None:
    """Adjust the price by the requests that were sent; at most once in an hour of the sources' own time.

    Returns the new price, or None if there is nothing to do.
    """
    plan = current_plan()
    if plan.price is None or plan.priced_at is None or not policy_of(plan.policy).reacts:
        return None
    wanted = queries.wanted()
    if not wanted.count:
        return None
    day = DAY_HOURS / wanted.mean_clock_rate  # h of ours
    since_change = (now - plan.changed_at).total_seconds() / HOUR
    window = min(day, since_change)
    hours = (now - plan.priced_at).total_seconds() / HOUR * wanted.mean_clock_rate
    if window < min(1.0, day) or hours < 1 - 1e-3:
        return None
    used = queries.requests_made(now - timedelta(hours=window), now)
    price = controlled_price(plan.price, used, queries.hourly_budget(plan, wanted) * window, hours)
    # Unless another process found a new price in the meantime.
    Plan.objects.filter(pk=1, priced_at=plan.priced_at).update(price=price, priced_at=now)
    return price


@contextmanager
def alone(lock: int) -> Iterator[bool]:
    """Try to hold an advisory lock for a block of several transactions; yields whether it was granted."""
    [(granted,)] = query("SELECT pg_try_advisory_lock(%s)", [lock])
    try:
        yield granted
    finally:
        if granted:
            execute("SELECT pg_advisory_unlock(%s)", [lock])
