"""How large an installation must be, and the month in which that is tried."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.lookahead import Outlook
from lab.evaluations.capacity.costs import MEASURED, PARTITIONED_FROM, Demand, fleet
from lab.evaluations.capacity.month import MONTH, SECONDS, dispatched, due_each_second, lateness, least_cores, played

MILLION = Demand(sources=1e6, retrievals_per_day=4, postings_per_day=2, changed=0.3)
arrivals = st.lists(st.integers(0, 9), min_size=1, max_size=40)


def flat(rates, price=8.0):
    """Sources that publish evenly, so many postings an hour."""
    rates = np.array(rates, np.float64)
    one = np.ones(rates.size)
    cumulated = rates[:, None] * np.linspace(0, WEEK, 2_017)
    return Outlook(cumulated, 0 * one, 0 * one, one, price * one, one / 12, WEEK * one, np.inf * one)


# --- the model --------------------------------------------------------------------------------------------------------
def test_twice_the_sources_need_twice_the_space_and_about_twice_the_cores():
    one, two = fleet(MILLION), fleet(replace(MILLION, sources=2e6))
    assert two.database_gb_per_month == pytest.approx(2 * one.database_gb_per_month)
    assert two.database_gb_at_first == pytest.approx(2 * one.database_gb_at_first)
    assert one.deriving_cores <= two.deriving_cores <= 2 * one.deriving_cores


@given(st.floats(1e3, 1e9), st.floats(0.1, 50), st.floats(0.0, 50), st.floats(0, 1), st.floats(1, 5))
def test_the_recommended_fleet_suffices_for_the_peak(sources, retrievals, postings, changed, peak):
    demand = Demand(sources, retrievals, postings, changed, peak)
    found = fleet(demand)
    fetching = (1 - changed) * MEASURED.retrieval_unchanged + changed * MEASURED.retrieval_changed
    needed = (found.retrievals_per_s * fetching + found.postings_per_s * MEASURED.store) * peak / 1_000
    assert needed <= found.worker_cores
    assert found.retrievals_per_s * MEASURED.dispatch * peak / 1_000 <= found.beats
    assert found.postings_after_a_year <= found.partitions * PARTITIONED_FROM or found.partitions == 0
    assert found.machines * 16 >= found.worker_cores + found.deriving_cores + found.database_cores + found.beats


def test_fuller_messages_are_fewer():
    assert fleet(MILLION, sources_per_message=25).messages_per_s == pytest.approx(fleet(MILLION).messages_per_s / 25)


# --- the month --------------------------------------------------------------------------------------------------------
def test_a_month_is_what_the_planner_would_do():
    often, seldom = played(flat([1.0, 1 / 16]))
    assert often.size == pytest.approx(MONTH / 4, abs=2)  # every sqrt(2 x 8) hours
    assert seldom.size == pytest.approx(MONTH / 16, abs=2)
    assert np.diff(often) == pytest.approx(np.full(often.size - 1, 4.0), rel=0.02)
    assert often.min() >= 0
    assert often.max() < MONTH


def test_every_retrieval_of_every_copy_is_due_once():
    plans = list(played(flat([1.0, 0.5, 0.25])))
    due = due_each_second(iter(plans), 7, np.random.default_rng(1))
    assert due.size == SECONDS
    assert due.sum() == 7 * sum(plan.size for plan in plans)


@given(arrivals, st.integers(1, 5))
def test_lateness_is_that_of_a_queue_served_second_by_second(due, per_second):
    found = lateness(np.array(due), float(per_second))
    left, longest = 0, 0.0
    for count in due:
        if count:
            longest = max(longest, (left + count) / per_second)
        left = max(0, left + count - per_second)
    assert found.longest == pytest.approx(longest)
    assert 0 <= found.p50 <= found.p99 <= found.longest


def test_one_core_less_would_be_late():
    due = np.random.default_rng(2).poisson(900, 3_600)
    cores = least_cores(due, 4.0, within=2.0)
    assert lateness(due, cores * 250).p99 <= 2.0 < lateness(due, (cores - 1) * 250).p99


def test_beat_cuts_what_is_due_in_each_second_by_itself():
    seen = []

    def cut(partitions):
        seen.append(partitions.size)
        assert ((partitions >= 0) & (partitions < 4)).all()
        return len(set(partitions.tolist()))

    beat = dispatched(np.array([3, 0, 5]), cut, np.random.default_rng(3), 4)
    assert seen == [3, 5]
    assert beat.sources == 8
    assert 2 <= beat.messages <= 8
