"""Delays, losses and retrievals of a plan, against a walk through every tick of time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.simulation.accounting import (
    Outcome,
    matching,
    simulate_reactive,
    simulate_timetables,
)
from apps.retrieval.algorithms.simulation.positions import Positions
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace
from lab.evaluations.retrieval.contenders import WINDOW, lost

START, END = 20, 60  # h; everything happens at whole hours, so that sums are exact
ticks = st.lists(st.integers(START, END - 1), max_size=60)


def walk(postings, is_retrieved):
    """Delays in order of publication, and the postings lost, of one source: hour by hour until nothing waits."""
    waiting, delays, own_lost = [], [], 0
    hour = START
    while hour < END or waiting:
        waiting += [hour] * postings.count(hour)
        if is_retrieved(hour):
            delays += [hour - posting for posting in waiting]
            own_lost += max(len(waiting) - WINDOW, 0)
            waiting = []
        hour += 1
    return delays, own_lost


@st.composite
def timetables(draw):
    period = draw(st.integers(1, 30))
    times = draw(st.lists(st.integers(0, period - 1), min_size=1, max_size=5, unique=True))
    return Timetable(np.sort(np.array(times, dtype=float)), float(period))


@given(st.lists(st.tuples(ticks, timetables()), min_size=1, max_size=4))
def test_timetables_are_counted_as_by_walking_through_the_hours(sources):
    trace = Trace.of([str(number) for number in range(len(sources))], [postings for postings, _ in sources])
    plans = [timetable for _, timetable in sources]
    outcome = simulate_timetables(trace, plans, START, END)
    walked = [walk(postings, lambda hour, plan=plan: hour % plan.period in plan.times) for postings, plan in sources]
    assert outcome.delays.tolist() == [delay for delays, _ in walked for delay in delays]
    assert lost(trace.parts, outcome.times) == sum(own for _, own in walked)
    assert outcome.retrievals == pytest.approx(sum(plan.times.size * 40 / plan.period for plan in plans))


class ByCount:
    """The gap is shorter the more postings were published since the previous retrieval."""

    def __init__(self, trace, gaps):
        self.positions, self.gaps = Positions(trace), np.array(gaps)

    def next(self, sources, previous, now):
        counts = self.positions.count(sources, previous, now)
        return now + self.gaps[np.minimum(counts, self.gaps.size - 1)]


@given(
    st.lists(ticks, min_size=1, max_size=4),
    st.lists(st.integers(1, 25), min_size=1, max_size=4),
    st.sampled_from([0.0, 0.5]),
    st.integers(1, 4),
)
def test_reactive_plans_are_counted_as_by_walking_through_the_hours(sources, gaps, phase, least_gap):
    gaps = [2 * gap for gap in gaps]  # so that half of a gap is whole hours
    trace = Trace.of([str(number) for number in range(len(sources))], sources)
    outcome = simulate_reactive(
        trace, ByCount(trace, gaps), START, END, least_gap=least_gap, phases=np.full(len(sources), phase)
    )
    delays, all_lost, retrievals = [], 0, 0
    for postings in sources:
        visits, previous = [START + max(int(phase * gaps[0]), least_gap)], START
        while visits[-1] < END:
            came = sum(previous < posting <= visits[-1] for posting in postings)
            previous = visits[-1]
            visits.append(previous + max(gaps[min(came, len(gaps) - 1)], least_gap))
        own_delays, own_lost = walk(postings, lambda hour, visits=visits: hour in visits)
        delays, all_lost, retrievals = delays + own_delays, all_lost + own_lost, retrievals + len(visits)
    assert outcome.delays.tolist() == delays
    assert (lost(trace.parts, outcome.times), outcome.retrievals) == (all_lost, retrievals)


def outcome_with(retrievals):
    return Outcome(np.zeros(0), retrievals)


@given(
    st.floats(1, 10),
    st.sampled_from([-1.0, -0.5, 0.5, 1.0]),
    st.floats(0.6, 1.5),
    st.floats(1, 100),
)
def test_matching_finds_the_scalar_that_uses_the_budget(factor, exponent, curvature, budget):
    scalar, outcome = matching(
        lambda scalar: outcome_with(factor * scalar ** (exponent * curvature)),
        budget,
        first=1.0,
        exponent=exponent,
    )
    assert outcome.retrievals == pytest.approx(budget, rel=0.0021)
    assert factor * scalar ** (exponent * curvature) == outcome.retrievals


def test_matching_returns_the_nearest_outcome_where_a_bound_rules():
    _, outcome = matching(lambda factor: outcome_with(float(np.clip(factor, 30, 50))), 10, first=40.0)
    assert outcome.retrievals == 30
    _, outcome = matching(lambda price: outcome_with(float(np.clip(1 / price, 30, 50))), 99, first=1.0, exponent=-1.0)
    assert outcome.retrievals == 50


def test_matching_finds_the_budget_past_a_flat_stretch():
    _, outcome = matching(lambda factor: outcome_with(100 * max(factor, 0.5)), 200, first=0.01)
    assert outcome.retrievals == pytest.approx(200, rel=0.0021)
