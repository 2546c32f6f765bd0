"""The one plan: what all sources together may cost."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models.functions import Now

from apps.retrieval import queries
from apps.retrieval.algorithms.planner.price import controlled_price
from apps.retrieval.models import Plan
from apps.retrieval.policies import all_policies, pages_policies, policy_of
from apps.sources.actions import PROGRAM, By, Noted, note
from apps.sources.models import AuditEntry

HOUR = 3_600.0  # s
DAY_HOURS = 24.0
LEARNING, PLANNING = 0x4C4541524E, 0x504C414E  # advisory locks: what only one process may do at a time


def current_plan() -> Plan:
    return Plan.objects.get_or_create(pk=1)[0]


@transaction.atomic
def change_plan(
    *,
    policy: str | None = None,
    pages_policy: str | None = None,
    budget: float | None = None,
    unit: str | None = None,
    longest_gap: float | None = None,
    interest_share: float | None = None,
    by: By = PROGRAM,
) -> Plan:
    """Change what is given of the plan; within a minute all sources' instants follow it.

    Parameters
    ----------
    budget : float, > 0
        Retrievals per `unit`.
    longest_gap : float, 1..168
        Hours of a source's own time.
    interest_share : float, 0..0.5
        Of its retrievals, how many a source may lose to those that people's searches wait for.
    by : By
        Who changes it; what differs is recorded.

    Raises
    ------
    ValueError
        If a value is not one that the plan may have; nothing is changed then.
    """
    given = {
        "policy": policy,
        "pages_policy": pages_policy,
        "budget": budget,
        "unit": unit,
        "longest_gap": longest_gap,
        "interest_share": interest_share,
    }
    values = {name: value for name, value in given.items() if value is not None}
    if policy is not None and policy not in all_policies():
        raise ValueError(f"there is no policy {policy!r}")
    if pages_policy is not None and pages_policy not in pages_policies():
        raise ValueError(f"there is no policy {pages_policy!r} for pages")
    if unit is not None and unit not in Plan.Unit.values:
        raise ValueError(f"a budget is per {', '.join(Plan.Unit.values)}, not per {unit!r}")
    if budget is not None and not (budget > 0 and math.isfinite(budget)):
        raise ValueError(f"the budget must be positive, not {budget}")
    if longest_gap is not None and not 1 <= longest_gap <= 168:
        raise ValueError(f"the longest gap must be between 1 and 168 hours, not {longest_gap}")
    if interest_share is not None and not 0 <= interest_share <= 0.5:
        raise ValueError(f"the alert priority share must be between 0 and 0.5, not {interest_share}")
    current_plan()
    plan = Plan.objects.select_for_update().get(pk=1)
    if all(getattr(plan, name) == value for name, value in values.items()):
        return plan
    Plan.objects.filter(pk=1).update(**values, revision=plan.revision + 1, changed_at=Now())
    note(
        [
            Noted(AuditEntry.What.PLAN, f"{getattr(plan, name)}", f"{value}", name=name.replace("_", " "))
            for name, value in values.items()
            if getattr(plan, name) != value
        ],
        by,
    )
    return Plan.objects.get(pk=1)


def control_price(*, now: datetime) -> float | None:
    """Steer the price towards the budget by what was really asked; at most once in an hour of the sources' own time.

    Returns the new price, or None where there is nothing to do.
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
    # Unless it was priced anew in the meantime.
    Plan.objects.filter(pk=1, priced_at=plan.priced_at).update(price=price, priced_at=now)
    return price


@contextmanager
def alone(lock: int) -> Iterator[bool]:
    """Whether nobody else holds an advisory lock, which is ours until the end then; for more than one transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
        [granted] = cursor.fetchone()
        try:
            yield granted
        finally:
            if granted:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [lock])
