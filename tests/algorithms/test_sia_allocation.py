"""Theorem 1, and whole retrievals from real frequencies."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.sia.allocation import square_root_allocation, whole_retrievals

positive = st.floats(0.01, 100)


def delay(rates, weights, retrievals):
    return float((weights * rates / 2 / retrievals).sum())


def test_one_four_and_nine_postings_get_two_four_and_six_retrievals():
    assert square_root_allocation([1.0, 4.0, 9.0], 12.0) == pytest.approx([2.0, 4.0, 6.0])
    assert square_root_allocation([1.0, 1.0, 1.0], 12.0, weights=[1.0, 4.0, 9.0]) == pytest.approx([2.0, 4.0, 6.0])


@given(st.lists(st.tuples(st.one_of(st.just(0.0), positive), positive), min_size=1, max_size=9), st.floats(0, 1))
def test_the_total_is_spent_within_the_bounds(sources, part):
    rates, weights = np.array(sources).T
    total = len(rates) * (0.5 + part * (4.0 - 0.5))
    retrievals = square_root_allocation(rates, total, weights=weights, least=0.5, most=4.0)
    assert retrievals.sum() == pytest.approx(total)
    assert (retrievals >= 0.5 - 1e-9).all()
    assert (retrievals <= 4.0 + 1e-9).all()


@given(
    st.lists(st.tuples(positive, positive, st.floats(0.1, 2), st.floats(2, 9)), min_size=2, max_size=6),
    st.floats(0.02, 0.98),
)
def test_no_exchange_between_two_sources_lowers_the_delay(sources, part):
    rates, weights, least, most = np.array(sources).T
    total = least.sum() + part * (most.sum() - least.sum())
    retrievals = square_root_allocation(rates, total, weights=weights, least=least, most=most)
    best = delay(rates, weights, retrievals)
    for giver in range(len(rates)):
        for taker in range(len(rates)):
            amount = min(0.01, retrievals[giver] - least[giver], most[taker] - retrievals[taker])
            if giver != taker and amount > 1e-9:
                changed = retrievals.copy()
                changed[giver] -= amount
                changed[taker] += amount
                assert delay(rates, weights, changed) >= best * (1 - 1e-9)


def test_within_bounds_two_hundred_random_allocations_are_as_good_as_the_best_of_all():
    random = np.random.default_rng(5)
    for _ in range(200):
        count = int(random.integers(2, 5))
        rates, weights = random.lognormal(0, 1.5, (2, count))
        least, most = random.integers(1, 4, count), random.integers(4, 13, count)
        total = int(random.integers(least.sum(), most.sum() + 1))
        tried = np.array(list(product(*(range(low, high + 1) for low, high in zip(least, most, strict=True)))))
        tried = tried[tried.sum(axis=1) == total]  # whole retrievals: among all that are real, some may be better
        best = (weights * rates / 2 / tried).sum(axis=1).min()
        retrievals = square_root_allocation(rates, total, weights=weights, least=least, most=most)
        assert best / delay(rates, weights, retrievals) >= 0.99


@given(st.lists(positive, min_size=1, max_size=8), st.lists(positive, min_size=8, max_size=8), st.floats(1, 50))
def test_without_bounds_retrievals_go_with_the_square_root(rates, weights, total):
    rates, weights = np.array(rates), np.array(weights)[: len(rates)]
    per_root = square_root_allocation(rates, total, weights=weights) / np.sqrt(weights * rates)
    assert per_root == pytest.approx(np.full(len(rates), per_root[0]))


def test_silent_sources_get_their_least_and_only_otherwise_the_rest():
    assert square_root_allocation([0.0, 1.0, 0.0], 8.0, least=1.0).tolist() == [1.0, 6.0, 1.0]
    assert square_root_allocation([0.0, 1.0, 0.0], 8.0, least=1.0, most=4.0).tolist() == [2.0, 4.0, 2.0]
    assert square_root_allocation([0.0, 0.0], 8.0).tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rates": [-1.0], "total": 1.0}, "negative"),
        ({"rates": [1.0], "total": 1.0, "weights": [-1.0]}, "negative"),
        ({"rates": [1.0, 1.0], "total": 1.0, "least": 1.0}, "bounds"),
        ({"rates": [1.0, 1.0], "total": 9.0, "most": 4.0}, "bounds"),
    ],
)
def test_impossible_allocations_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        square_root_allocation(**arguments)


@given(st.floats(0, 300), st.floats(0, 0.999), st.integers(1, 40))
def test_every_day_is_rounded_down_or_up_and_the_sum_never_strays(frequency, phase, days):
    counts = whole_retrievals(frequency, days, phase=phase)
    wanted = max(frequency, 1 / days)
    assert set(counts.tolist()) <= {int(np.floor(wanted + 1e-9)), int(np.ceil(wanted - 1e-9))}
    assert np.abs(np.cumsum(counts) - wanted * np.arange(1, days + 1)).max() < 1 + 1e-6
    assert counts.sum() >= 1


@pytest.mark.parametrize("phase", [0.0, 0.3, 0.5, 0.99])
def test_once_a_week_is_once_a_week_whatever_the_phase(phase):
    days = np.flatnonzero(whole_retrievals(1 / 7, 28, phase=phase))
    assert len(days) == 4
    assert (np.diff(days) == 7).all()
