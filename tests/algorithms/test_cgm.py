"""Age- and freshness-optimal frequencies against published values and a general optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from apps.retrieval.algorithms.sia.metrics import mean_age, mean_freshness
from extensions.algorithms.cgm import age_optimal_frequencies, freshness_optimal_frequencies

RATES = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def expected_age(rates, frequencies):
    r = rates / frequencies
    return (0.5 - 1 / r + (1 - np.exp(-r)) / r**2) / frequencies


def expected_staleness(rates, frequencies):
    r = rates / frequencies
    return 1 - (1 - np.exp(-r)) / r


RULES = [(age_optimal_frequencies, expected_age), (freshness_optimal_frequencies, expected_staleness)]
sources = st.lists(st.tuples(st.floats(0.05, 30), st.floats(0.1, 5)), min_size=2, max_size=6)


def test_published_frequencies_for_five_rates():
    assert age_optimal_frequencies(RATES, 5.0) == pytest.approx([0.84, 0.97, 1.03, 1.07, 1.09], abs=0.006)
    assert freshness_optimal_frequencies(RATES, 5.0) == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.006)


@pytest.mark.parametrize(("rule", "cost"), RULES)
def test_a_general_optimiser_finds_the_same(rule, cost):
    rates, weights = np.array([0.5, 1.0, 2.0, 3.5]), np.array([1.0, 2.0, 1.0, 0.5])
    spent = {"type": "eq", "fun": lambda frequencies: frequencies.sum() - 8.0}
    slow = minimize(
        lambda frequencies: float((weights * cost(rates, frequencies)).sum()),
        np.full(4, 2.0), constraints=spent, bounds=[(0.5, 3.0)] * 4, tol=1e-13,
    )  # fmt: skip
    assert rule(rates, 8.0, weights=weights, least=0.5, most=3.0) == pytest.approx(slow.x, abs=1e-4)


@pytest.mark.parametrize(("rule", "cost"), RULES)
@given(sources=sources, part=st.floats(0.05, 0.95))
@settings(max_examples=20, deadline=None)
def test_no_exchange_within_the_bounds_is_better(rule, cost, sources, part):
    rates, weights = np.array(sources).T
    least, most = 0.3, 6.0
    total = len(rates) * (least + part * (most - least))
    frequencies = rule(rates, total, weights=weights, least=least, most=most)
    assert frequencies.sum() == pytest.approx(total)
    assert frequencies.min() >= least - 1e-9
    assert frequencies.max() <= most + 1e-9
    best = (weights * cost(rates, frequencies)).sum()
    for giver in range(len(rates)):
        for taker in range(len(rates)):
            amount = min(0.02, frequencies[giver] - least, most - frequencies[taker])
            if giver != taker and amount > 1e-9:
                changed = frequencies.copy()
                changed[giver] -= amount
                changed[taker] += amount
                assert (weights * cost(rates, changed)).sum() >= best - 1e-9 * (1 + best)


@pytest.mark.parametrize(("rule", "cost"), RULES)
def test_equal_sources_share_equally_even_where_freshness_is_hopeless(rule, cost):
    assert rule(np.full(4, 100.0), 4.0) == pytest.approx(np.ones(4), rel=1e-6)


def test_age_never_starves_a_fast_source_and_freshness_does():
    rates = np.array([1.0, 100.0])
    assert age_optimal_frequencies(rates, 2.0)[1] > 1.0
    assert freshness_optimal_frequencies(rates, 2.0)[1] == 0.0


def test_silent_sources_get_their_least():
    for rule, _ in RULES:
        assert rule([0.0, 2.0, 2.0], 5.0, least=0.5) == pytest.approx([0.5, 2.25, 2.25])
        assert rule([0.0, 0.0], 5.0) == pytest.approx([2.5, 2.5])


def test_the_closed_forms_are_the_time_averages_of_a_poisson_process():
    random = np.random.default_rng(2)
    postings, retrievals = np.sort(random.uniform(0, 30_000, 60_000)), np.arange(0, 30_001, 1 / 1.5)
    age = mean_age(postings, retrievals, 0.0, 30_000.0)
    staleness = 1 - mean_freshness(postings, retrievals, 0.0, 30_000.0)
    assert age == pytest.approx(float(expected_age(np.array(2.0), np.array(1.5))), rel=0.03)
    assert staleness == pytest.approx(float(expected_staleness(np.array(2.0), np.array(1.5))), rel=0.03)


@pytest.mark.parametrize("rule", [age_optimal_frequencies, freshness_optimal_frequencies])
def test_negative_rates_and_impossible_totals_are_refused(rule):
    with pytest.raises(ValueError, match="negative"):
        rule([-1.0], 1.0)
    with pytest.raises(ValueError, match="bounds"):
        rule([1.0, 1.0], 9.0, most=4.0)
