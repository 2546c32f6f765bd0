"""The one plan: the budget of all sources together, and the price that keeps to it."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models.functions import Now

from apps.database.statements import execute, query, query_as
from apps.retrieval import queries
from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.price import closed_form_price, controlled_price
from apps.retrieval.algorithms.planner.rehearsal import price_for, what_if
from apps.retrieval.algorithms.weekly_profiles.learning import expectations
from apps.retrieval.models import Plan
from apps.retrieval.planner.due_times import Terms, outlook_at
from apps.retrieval.planner.state import COLUMNS, TABLES, WORTH, ScheduleState, parameters
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


SAMPLE = 300  # sources
CURVE_SAMPLE = 60  # sources for the what-if curve, which takes nine rehearsals
SEED = 7


def update_price(*, now: datetime) -> float | None:
    """Find the price for the budget, and the delays at other budgets; None while no profile is known."""
    plan = current_plan()
    all_masses, sources = _sampled(now)
    announced = queries.announced(now)
    budget = queries.budget_left(plan, announced)
    masses = np.array([_mass(source) for source in sources])
    if not masses.sum() > 0 or not budget > 0:
        return None
    terms = Terms(1.0, plan.longest_gap)
    share = float(masses.sum()) / all_masses
    price = price_for(outlook_at(sources, terms, now), *_worths_and_clock_rates(sources), budget * share)
    few, share = sources[:CURVE_SAMPLE], float(masses[:CURVE_SAMPLE].sum()) / all_masses
    points = what_if(outlook_at(few, terms, now), *_worths_and_clock_rates(few), price)
    waiting = 1 - announced.postings / (announced.postings + _postings(few) / share)  # of all postings
    curve = [[24 * (retrievals / share + announced.retrievals), delay * waiting] for retrievals, delay in points]
    Plan.objects.filter(pk=1).update(price=price, priced_at=now, curve=curve)
    return price


def _postings(sources: Sequence[ScheduleState]) -> float:
    """Postings that profiles expect per hour of ours."""
    expected = expectations([source.profile for source in sources])[:, -1]
    return float((expected * [source.clock_rate for source in sources]).sum()) / WEEK


def first_price(plan: Plan, sources: Sequence[ScheduleState]) -> float:
    """The price by the closed form, as if these were all sources: until one is found by rehearsing."""
    wanted = queries.wanted()
    budget = (
        queries.hourly_budget(plan, wanted)
        * sum(source.clock_rate for source in sources)
        / max(wanted.clock_rates, 1e-9)
    )
    masses = np.array([source.root_mass * source.clock_rate for source in sources])
    worths = np.array([source.worth for source in sources])
    return closed_form_price(masses, worths if worths.any() else np.ones(len(sources)), max(budget, 1e-9) * WEEK)


def _worths_and_clock_rates(sources: Sequence[ScheduleState]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([source.worth for source in sources]), np.array([source.clock_rate for source in sources])


def _mass(source: ScheduleState) -> float:
    """The number of a source's retrievals is proportional to it."""
    return float(source.root_mass * np.sqrt(source.worth) * source.clock_rate)


def _sampled(now: datetime) -> tuple[float, list[ScheduleState]]:
    """The sum of `_mass` over all sources to be planned, and a sample of them."""
    [(total, ids)] = query(
        f"""
        SELECT coalesce(sum(profile.root_mass * sqrt({WORTH}) * source.clock_rate), 0) AS total,
            array_agg(source.id ORDER BY source.id) AS ids
        FROM {TABLES} WHERE {queries.TO_BE_PLANNED}
        """,
        {"now": now},
    )
    if not ids:
        return 0.0, []
    chosen = np.random.default_rng(SEED).permutation(np.array(ids))[:SAMPLE].tolist()
    sample = f"""
        SELECT {COLUMNS} FROM {TABLES} WHERE source.id = ANY(%(ids)s)
        ORDER BY array_position(%(ids)s::bigint[], source.id)"""
    return total, query_as(ScheduleState.of, sample, parameters(ids=chosen))
