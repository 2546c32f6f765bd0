"""What searches add to the worth of sources, and what they may not take from others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.alerts.algorithms.interest import MAX_OF_A_PERSON, MAX_TIMES, counted_importance, interests

amounts = st.floats(0, 100, allow_subnormal=False)
claims = st.floats(0.01, 100)


@st.composite
def worlds(draw):
    pairs = draw(st.lists(st.tuples(amounts, claims), min_size=1, max_size=20))
    weights, claimed = map(np.array, zip(*pairs, strict=True))
    return weights, claimed, draw(st.floats(0, 0.6))


@given(worlds())
def test_others_never_lose_more_than_their_share(world):
    weights, claimed, max_share = world
    factors = interests(weights, claimed, max_share)
    left = claimed.sum() / np.sum(claimed * np.sqrt(factors))  # of the retrievals of a source without searches
    assert left >= 1 - max_share - 1e-9


@given(worlds())
def test_interest_grows_in_proportion_to_searches(world):
    weights, claimed, max_share = world
    factors = interests(weights, claimed, max_share)
    assert factors.min() >= 1
    assert factors.max() <= MAX_TIMES
    gains = (factors - 1) / max(factors.max() - 1, 1e-9)
    if factors.max() > 1.5:
        np.testing.assert_allclose(gains, weights / weights.max(), atol=0.03)


@given(worlds())
def test_all_that_may_be_taken_is_taken(world):
    weights, claimed, max_share = world
    factors = interests(weights, claimed, max_share)
    if weights.max() > 0 and factors.max() < MAX_TIMES - 0.02:
        more = 1 + (factors - 1 + 0.011 * weights / weights.max()) * 1.02
        assert np.sum(claimed * np.sqrt(more)) > claimed.sum() / (1 - max_share) * (1 - 1e-9) - 0.02 * claimed.sum()


def test_without_searches_or_without_a_share_nothing_is_raised():
    assert interests(np.zeros(3), np.ones(3), 0.1).tolist() == [1, 1, 1]
    assert interests(np.ones(3), np.ones(3), 0.0).tolist() == [1, 1, 1]
    assert interests(np.zeros(0), np.zeros(0), 0.1).tolist() == []


@given(st.integers(1, 30), st.floats(0.5, 10))
def test_a_person_gains_nothing_by_keeping_more_searches_than_count(many, importance):
    counted = counted_importance(np.full(many, importance), np.ones(many, np.int64))
    assert counted.sum() == pytest.approx(min(many * importance, MAX_OF_A_PERSON))


def test_each_person_counts_for_themselves():
    assert counted_importance(np.array([1.0, 2.0, 4.0]), np.array([5, 5, 9])).tolist() == [1.0, 2.0, 4.0]
    assert counted_importance(np.zeros(2), np.array([5, 5])).tolist() == [0.0, 0.0]
