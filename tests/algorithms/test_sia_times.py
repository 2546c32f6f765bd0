"""Theorems 2 and 3 and the solvers of the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.retrieval.algorithms.exact import optimal_times
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import (
    downward_crossings,
    expected_delay,
    expected_delay_between,
    optimal_single_time,
)
from extensions.algorithms.multiple_retrievals import exhaustive_search, iterative_refinement, optimality_residuals
from tests.algorithms.posting_rates import BEST_FOR_OFFICE, EXAMPLE, OFFICE, SINE, plans, profiles


def test_the_best_single_retrieval_is_where_the_rate_falls_through_its_mean():
    assert optimal_single_time(EXAMPLE) == 1.0
    assert optimal_single_time(OFFICE) == 18.0
    assert optimal_single_time(SINE) == pytest.approx(0.5)


@given(profiles())
@settings(deadline=None)
def test_no_single_retrieval_beats_that_of_theorem_2(profile):
    best = expected_delay(profile, [optimal_single_time(profile)])
    everywhere = np.arange(240) / 240 * profile.period
    delays = expected_delay_between(profile, everywhere, everywhere + profile.period)
    assert best <= delays.min() + 1e-9 * profile.total * profile.period


@given(profiles())
@settings(deadline=None)
def test_at_every_candidate_the_rate_falls_to_its_mean_or_below(profile):
    mean = profile.rates.mean()
    for time in downward_crossings(profile):
        middle = profile.bin_hours / 2
        assert profile.rate(time - middle) > mean >= profile.rate(time + middle)


def test_a_constant_rate_has_no_best_time():
    assert downward_crossings(Profile(np.full(24, 0.1), period=24.0)).size == 0
    assert optimal_single_time(Profile(np.full(24, 0.1), period=24.0)) == 0.0


@given(st.data())
@settings(deadline=None)
def test_residuals_are_the_slope_of_the_delay(data):
    profile = data.draw(profiles())
    plan = data.draw(plans(profile, least=2))
    step = 1e-7 * profile.period
    for j, residual in enumerate(optimality_residuals(profile, plan)):
        slopes = []
        for side in (-step, step):
            moved = plan.copy()
            moved[j] += side
            slopes.append((expected_delay(profile, moved) - expected_delay(profile, plan)) / side)
        left, right = slopes
        expected = left if left > 1e-6 * profile.total else min(right, 0.0)
        assert residual == pytest.approx(expected, abs=1e-4 * (profile.total + profile.rates.max() * profile.period))


@pytest.mark.parametrize("retrievals", [1, 2, 3, 4])
def test_known_optima_fulfil_theorem_3(retrievals):
    times, _ = BEST_FOR_OFFICE[retrievals]
    assert optimality_residuals(OFFICE, times) == pytest.approx(np.zeros(retrievals), abs=1e-3)


@given(profiles(), st.integers(1, 5))
def test_exact_optima_fulfil_theorem_3(profile, retrievals):
    residuals = optimality_residuals(profile, optimal_times(profile, retrievals))
    assert np.abs(residuals).max() < 1e-4 * profile.rates.max() * profile.period


def test_an_even_plan_fulfils_theorem_3_where_the_rate_is_constant():
    flat = Profile(np.full(24, 2.0), period=24.0)
    assert optimality_residuals(flat, [1.0, 7.0, 13.0, 19.0]) == pytest.approx(np.zeros(4))


@pytest.mark.parametrize("solver", [exhaustive_search, iterative_refinement])
@pytest.mark.parametrize("interpolated", [False, True])
@given(profile=profiles(max_bins=8), retrievals=st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_a_solver_of_the_paper_never_does_worse_than_its_even_start(solver, interpolated, profile, retrievals):
    plan = solver(profile, retrievals, grid=profile.period / 48, interpolated=interpolated)
    start = (np.arange(retrievals) + 0.5) * profile.period / retrievals
    assert plan.shape == (retrievals,)
    assert (np.diff(plan) > 0).all()
    assert 0 <= plan[0] <= plan[-1] < profile.period
    assert expected_delay(profile, plan) <= expected_delay(profile, start) * (1 + 1e-9)


@given(profiles(max_bins=8), st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_exhaustive_search_is_exact_on_its_grid_for_one_and_two(profile, retrievals):
    nodes = np.arange(24) / 24 * profile.period
    found = expected_delay(profile, exhaustive_search(profile, retrievals, grid=profile.period / 24))
    pairs = [[t] for t in nodes] if retrievals == 1 else [[s, t] for s in nodes for t in nodes if s < t]
    slow = min(expected_delay(profile, pair) for pair in pairs)
    start = expected_delay(profile, (np.arange(retrievals) + 0.5) * profile.period / retrievals)
    assert found == pytest.approx(min(slow, start), abs=1e-9)


@pytest.mark.parametrize(("retrievals", "within"), [(1, 1e-9), (2, 1e-3), (3, 0.02), (4, 0.02)])
def test_exhaustive_search_comes_close_on_a_smooth_rate(retrievals, within):
    smooth = Profile(2 + 2 * np.sin(2 * np.pi * (np.arange(24) + 0.5) / 24), period=24.0)
    best = expected_delay(smooth, optimal_times(smooth, retrievals))
    found = expected_delay(smooth, exhaustive_search(smooth, retrievals, interpolated=True))
    assert best <= found * (1 + 1e-9) <= best * (1 + within) * (1 + 1e-9)


def test_refinement_leaves_the_even_start_and_ends_near_the_optimum_of_office_hours():
    found = expected_delay(OFFICE, iterative_refinement(OFFICE, 3))
    assert 30.48 <= found <= 1.1 * 30.48
    assert expected_delay(OFFICE, [4.0, 12.0, 20.0]) > 1.2 * 30.48


def test_refinement_rests_where_the_even_start_happens_to_fulfil_the_condition():
    assert iterative_refinement(OFFICE, 2).tolist() == [6.0, 18.0]  # the optimum is 12.3 and 18


@pytest.mark.parametrize("solver", [exhaustive_search, iterative_refinement])
def test_a_plan_without_retrievals_is_refused(solver):
    with pytest.raises(ValueError, match="at least one"):
        solver(OFFICE, 0)


@pytest.mark.parametrize("solver", [exhaustive_search, iterative_refinement, optimal_times])
def test_retrievals_of_a_source_that_never_posts_are_evenly_spaced(solver):
    silent = Profile(np.zeros(24), period=24.0)
    assert solver(silent, 3).tolist() == [4.0, 12.0, 20.0]
