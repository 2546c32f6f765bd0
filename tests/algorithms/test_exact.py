"""The exact solver against slow ones that try everything."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.retrieval.algorithms.exact import coordinate_descent, optimal_times, optimal_times_on_grid, quantile_start
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import expected_delay, expected_delay_between
from tests.algorithms.posting_rates import BEST_FOR_OFFICE, BEST_FOR_SINE, EXAMPLE, OFFICE, SINE, plans, profiles


def by_all_subsets(profile, retrievals, nodes):
    grid = np.arange(nodes) / nodes * profile.period
    return min(expected_delay(profile, grid[list(subset)]) for subset in combinations(range(nodes), retrievals))


def by_programme_from_every_start(profile, retrievals, nodes):
    """The plain k-link programme: every start, every link, no bounds."""
    grid = np.arange(2 * nodes + 1) / nodes * profile.period
    links = expected_delay_between(profile, grid[:, None], grid)
    links[np.tri(len(grid), dtype=bool)] = np.inf  # time goes forward
    best = np.inf
    for start in range(nodes):
        costs = np.full(len(grid), np.inf)
        costs[start] = 0.0
        for _ in range(retrievals):
            costs = (costs[:, None] + links).min(axis=0)
        best = min(best, costs[start + nodes])
    return best


@pytest.mark.parametrize("retrievals", BEST_FOR_SINE)
def test_known_optima_of_a_sine(retrievals):
    times, delay = BEST_FOR_SINE[retrievals]
    found = optimal_times(SINE, retrievals)
    assert expected_delay(SINE, found) == pytest.approx(delay, abs=5e-6)
    if times:
        # The rate is constant within 2,000 bins: near the optimum many edges are one, to six digits of the delay.
        assert found == pytest.approx(times, abs=5.5e-4)
        assert expected_delay(SINE, found) <= expected_delay(SINE, times) + 2e-7


@pytest.mark.parametrize("retrievals", BEST_FOR_OFFICE)
def test_known_optima_of_office_hours(retrievals):
    times, delay = BEST_FOR_OFFICE[retrievals]
    found = optimal_times(OFFICE, retrievals)
    assert expected_delay(OFFICE, found) == pytest.approx(delay, abs=5e-5)
    if times:
        assert found == pytest.approx(times, abs=2e-3)


def test_example_1_of_the_paper():
    assert optimal_times(EXAMPLE, 1).tolist() == [1.0]
    assert optimal_times(EXAMPLE, 2) == pytest.approx([0.5, 1.0])


@given(profiles(max_bins=6), st.integers(1, 5))
def test_on_a_grid_no_subset_of_nodes_is_better(profile, retrievals):
    plan = optimal_times_on_grid(profile, retrievals, nodes=10)
    slow = by_all_subsets(profile, retrievals, nodes=10)
    assert expected_delay(profile, plan) == pytest.approx(slow, abs=1e-9 * profile.total * profile.period)


@given(profiles(), st.integers(2, 7))
@settings(max_examples=30, deadline=None)
def test_on_a_grid_the_programme_from_every_start_finds_nothing_better(profile, retrievals):
    plan = optimal_times_on_grid(profile, retrievals, nodes=22)
    slow = by_programme_from_every_start(profile, retrievals, nodes=22)
    assert expected_delay(profile, plan) == pytest.approx(slow, abs=1e-9 * profile.total * profile.period)


@given(profiles(), st.integers(1, 30))
def test_the_optimum_is_a_plan_and_no_grid_has_a_better_one(profile, retrievals):
    plan = optimal_times(profile, retrievals)
    assert plan.shape == (retrievals,)
    assert (np.diff(plan) >= 0).all()
    assert 0 <= plan[0] <= plan[-1] < profile.period
    on_grid = optimal_times_on_grid(profile, retrievals, nodes=12 * profile.rates.size + 24)
    assert expected_delay(profile, plan) <= expected_delay(profile, on_grid) * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("retrievals", [26, 60])
def test_many_retrievals_come_within_a_thousandth_of_a_fine_programme(retrievals):
    random = np.random.default_rng(4)
    gaps = []
    for _ in range(4):
        profile = Profile(random.gamma(1.0, size=24), period=24.0)
        fine = coordinate_descent(profile, optimal_times_on_grid(profile, retrievals, nodes=480), 400)
        gaps.append(expected_delay(profile, optimal_times(profile, retrievals)) / expected_delay(profile, fine) - 1)
    assert np.mean(gaps) < 1e-3


@given(profiles(), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_more_retrievals_save_less_and_less(profile, retrievals):
    one, two, three = (expected_delay(profile, optimal_times(profile, retrievals + more)) for more in range(3))
    assert one >= two >= three
    assert one - two >= (two - three) * (1 - 1e-3) - 1e-3 * one


def test_retrievals_at_a_flat_rate_are_evenly_spaced():
    for retrievals in (2, 7, 24, 50):
        plan = optimal_times(Profile(np.full(24, 0.3), period=24.0), retrievals)
        assert np.diff(plan) == pytest.approx(np.full(retrievals - 1, 24 / retrievals), rel=0.02)


@given(profiles(), st.integers(1, 6), st.floats(0.1, 20), st.integers(0, 11))
@settings(max_examples=30, deadline=None)
def test_neither_the_number_of_postings_nor_the_hour_the_day_begins_matters(profile, retrievals, factor, turn):
    turned = Profile(np.roll(profile.rates, turn) * factor, profile.period)
    own, other = (expected_delay(each, optimal_times(each, retrievals)) for each in (profile, turned))
    assert other == pytest.approx(factor * own, rel=1e-3)


@given(st.data())
@settings(deadline=None)
def test_descent_never_raises_the_delay(data):
    profile = data.draw(profiles())
    plan = data.draw(plans(profile))
    delays = [expected_delay(profile, plan)]
    for _ in range(4):
        plan = coordinate_descent(profile, plan, sweeps=1)
        delays.append(expected_delay(profile, plan))
    slack = 1e-9 * profile.total * profile.period
    assert all(later <= earlier + slack for earlier, later in pairwise(delays))


@given(st.data())
def test_after_descent_moving_one_retrieval_gains_nothing(data):
    profile = data.draw(profiles())
    plan = coordinate_descent(profile, data.draw(plans(profile, least=2)), sweeps=1000)
    least = expected_delay(profile, plan)
    for j in range(plan.size):
        since = plan[j - 1] - (profile.period if j == 0 else 0)
        until = plan[j + 1] if j + 1 < plan.size else plan[0] + profile.period
        for place in np.linspace(since, until, 31):
            moved = np.append(np.delete(plan, j), place)
            moved = np.sort(moved % profile.period)
            assert expected_delay(profile, moved) >= least - 1e-5 * profile.total * profile.period


def test_several_plans_descend_as_each_would_alone():
    starts = np.array([[1.0, 9.0, 20.0], [3.0, 4.0, 5.0]])
    together = coordinate_descent(OFFICE, starts, sweeps=5)
    for start, plan in zip(starts, together, strict=True):
        assert plan == pytest.approx(coordinate_descent(OFFICE, start, sweeps=5))


def test_a_start_is_dense_where_much_is_posted():
    start = quantile_start(OFFICE, 10)
    assert np.count_nonzero((start >= 8) & (start < 18)) >= 6


@pytest.mark.parametrize("retrievals", [0, -1])
def test_a_plan_without_retrievals_is_refused(retrievals):
    with pytest.raises(ValueError, match="at least one"):
        optimal_times(OFFICE, retrievals)
    with pytest.raises(ValueError, match="do not fit"):
        optimal_times_on_grid(OFFICE, retrievals, nodes=4)
