"""The one plan: the budget of all sources together, and the price that keeps to it."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models.functions import Now

from apps.database.statements import query, query_as
from apps.retrieval import queries
from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.planner.price import controlled_price
from apps.retrieval.algorithms.planner.rehearsal import price_for, what_if
from apps.retrieval.algorithms.weekly_profiles.learning import Priors, expectations
from apps.retrieval.models import Plan
from apps.retrieval.planner.due_times import Terms, outlook_at
from apps.retrieval.planner.state import COLUMNS, COST, TABLES, WORTH, ScheduleState, parameters
from apps.retrieval.policies import all_policies, pages_policies, policy_of
from apps.sources.actions.curating import PROGRAM, By, decision, note
from apps.sources.models import AuditEntry

HOUR = 3_600.0  # s
LEARNING, PLANNING = 0x4C4541524E, 0x504C414E  # advisory locks


def current_plan() -> Plan:
    return Plan.objects.get_or_create(pk=1)[0]


@transaction.atomic
def change_plan(*, by: By = PROGRAM, **given: str | float | None) -> Plan:
    """Change `policy`, `pages_policy`, `budget`, `counted`, `unit`, `longest_gap` (h), `learning_days` or
    `interest_share`; not to None.

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
    Plan.objects.filter(pk=1).update(**values, revision=plan.revision + 1, rehearsed_mass=None, changed_at=Now())
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
        case "counted" if value not in Plan.Counted.values:
            return f"a budget counts {' or '.join(Plan.Counted.values)}, not {value!r}"
        case "budget" if not 0 < value < math.inf:
            return f"the budget must be positive, not {value}"
        case "longest_gap" if not 1 <= value <= 168:
            return f"the longest gap must be between 1 and 168 hours, not {value}"
        case "learning_days" if not 2 <= value <= 56:
            return f"the days to learn from must be between 2 and 56, not {value}"
        case "interest_share" if not 0 <= value <= 0.5:
            return f"the alert priority share must be between 0 and 0.5, not {value}"
    return ""


def control_price(*, now: datetime) -> float | None:
    """Adjust the price by what retrievals took of the budget; at most once in an hour of the sources' own time.

    Returns the new price, or None if there is nothing to do.
    """
    plan = current_plan()
    if plan.price is None or plan.priced_at is None or not policy_of(plan.policy).reacts:
        return None
    wanted = queries.wanted()
    if not wanted.count:
        return None
    day = DAY / wanted.mean_clock_rate  # h of real time
    since_change = (now - plan.changed_at).total_seconds() / HOUR
    window = min(day, since_change)
    hours = (now - plan.priced_at).total_seconds() / HOUR * wanted.mean_clock_rate
    if window < min(1.0, day) or hours < 1 - 1e-3:
        return None
    used = queries.spent(plan, now - timedelta(hours=window), now)
    price = controlled_price(plan.price, used, queries.hourly_budget(plan, wanted) * window, hours)
    # Unless another process found a new price in the meantime.
    Plan.objects.filter(pk=1, priced_at=plan.priced_at, price=plan.price).update(price=price, priced_at=now)
    return price


SAMPLE = 300  # sources
CURVE_SAMPLE = 60  # sources for the what-if curve, which takes nine rehearsals
SETTLED = 0.02  # change of the price that needs no new rehearsal; retrievals are proportional to its inverse root


def priors_of(plan: Plan) -> Priors:
    return Priors.from_json(plan.priors) if plan.priors else Priors.ignorant()


# A source that was never retrieved is assumed to be like the others.
_MASSES = f"""
SELECT coalesce(sum(mass), 0)::float8 FROM (
    SELECT coalesce(profile.root_mass, avg(profile.root_mass) OVER ()) * source.clock_rate
        * sqrt({WORTH} * {COST}) AS mass
    FROM {TABLES} WHERE {queries.TO_BE_PRICED}
) planned
"""


def scale_price(*, now: datetime) -> Plan | None:
    """Have the price follow the weights, the sources and the budget at once; None without a profile or budget.

    By Theorem 1 the price goes with the square of the mass per retrieval, whatever the weights were; how far bounds of
    gaps move it from the closed form, rehearsals have found.
    """
    plan = current_plan()
    [(total,)] = query(_MASSES, {"now": now})
    budget = queries.budget_left(plan, queries.announced(now))
    if not (total > 0 and budget > 0):  # a source is stored before its first follower makes a budget
        return None
    mass = total / (budget * WEEK)
    plan.price = plan.price * (mass / plan.mass) ** 2 if plan.price and plan.mass else mass**2 / 2
    plan.mass, plan.priced_at = mass, plan.priced_at or now
    plan.save(update_fields=["price", "mass", "priced_at"])
    return plan


def settled(plan: Plan, changed: int) -> bool:
    """Whether the price was rehearsed for about the present mass, and with the bounds of all but a few sources."""
    is_near = plan.mass and plan.rehearsed_mass and abs(plan.mass / plan.rehearsed_mass - 1) < SETTLED / 2
    return bool(is_near) and changed <= SETTLED * queries.wanted().count


def rehearse_price(*, now: datetime) -> bool:
    """Find the price that keeps to the budget under all bounds; returns whether it is another than before."""
    plan = current_plan()
    budget = queries.budget_left(plan, queries.announced(now))
    sources, share = _sample(plan, budget, SAMPLE, now)
    if not share:
        return False
    outlook = outlook_at(sources, Terms(1.0, plan.longest_gap), now)
    price = price_for(outlook, *_values_and_spending(sources), budget * share, first=plan.price)
    Plan.objects.filter(pk=1).update(price=price, priced_at=now, rehearsed_mass=plan.mass)
    return plan.price is None or abs(price / plan.price - 1) > SETTLED


def draw_curve(*, now: datetime) -> None:
    """Find the delays that are expected at other budgets than the present one."""
    plan, announced = current_plan(), queries.announced(now)
    sources, share = _sample(plan, queries.budget_left(plan, announced), CURVE_SAMPLE, now)
    if not share or plan.price is None:
        return
    outlook = outlook_at(sources, Terms(1.0, plan.longest_gap), now)
    points = what_if(outlook, *_values_and_spending(sources), plan.price)
    waiting = 1 - announced.postings / (announced.postings + _postings(sources) / share)  # of all postings
    curve = [[24 * (spent / share + announced.spent), delay * waiting] for spent, delay in points]
    Plan.objects.filter(pk=1).update(curve=curve)


def _postings(sources: Sequence[ScheduleState]) -> float:
    """Postings that profiles expect per hour of real time."""
    expected = expectations([source.profile for source in sources])[:, -1]
    return float((expected * [source.clock_rate for source in sources]).sum()) / WEEK


def _values_and_spending(sources: Sequence[ScheduleState]) -> tuple[np.ndarray, np.ndarray]:
    """The worth per unit of the budget, and the units that a retrieval in each of the source's own hours takes."""
    worths, costs, rates = np.array([(source.worth, source.cost, source.clock_rate) for source in sources]).T
    return worths / costs, costs * rates


def _sample(plan: Plan, budget: float, size: int, now: datetime) -> tuple[list[ScheduleState], float]:
    """Some of the sources with a profile, and their share of the mass that `scale_price` found; 0 before it has."""
    statement = f"""
        SELECT {COLUMNS} FROM {TABLES} WHERE {queries.TO_BE_PLANNED}
        ORDER BY hashint8(source.id), source.id LIMIT %(size)s"""
    sources = query_as(ScheduleState.of, statement, parameters(now=now, size=size))
    total = (plan.mass or 0.0) * budget * WEEK
    return sources, sum(source.spending for source in sources) / total if total else 0.0
