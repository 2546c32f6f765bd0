"""The price of a retrieval that keeps to the budget, found by rehearsing on a sample of sources."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from apps.database.statements import query, query_as
from apps.retrieval import queries
from apps.retrieval.actions.plan import current_plan
from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.price import closed_form_price
from apps.retrieval.algorithms.planner.rehearsal import price_for, what_if
from apps.retrieval.algorithms.weekly_profiles.packing import expectations
from apps.retrieval.models import Plan
from apps.retrieval.planner.due_times import Terms, outlook_at
from apps.retrieval.planner.state import COLUMNS, TABLES, WORTH, ScheduleState, parameters

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
