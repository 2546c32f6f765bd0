"""No plan is better than the clairvoyant bound."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.evaluations.retrieval.clairvoyant import clairvoyant_times


def cost(times, retrievals, price):
    retrievals = np.asarray(retrievals, dtype=float)
    delays = retrievals[np.searchsorted(retrievals, times, side="left")] - times
    return float(delays.sum() + price * retrievals.size)


posted = st.lists(st.integers(0, 40), min_size=1, max_size=8).map(lambda times: np.sort(np.array(times, dtype=float)))
prices = st.floats(0.01, 100)


@given(posted, prices)
def test_no_choice_of_posting_times_is_cheaper(times, price):
    chosen = clairvoyant_times(times, price)
    candidates = np.unique(times)
    others = [
        [*some, candidates[-1]] for size in range(candidates.size) for some in combinations(candidates[:-1], size)
    ]
    assert chosen[-1] == times[-1]
    assert cost(times, chosen, price) == pytest.approx(min(cost(times, other, price) for other in others))


@given(
    st.lists(st.floats(0, 500), min_size=1, max_size=60).map(np.sort),
    st.lists(st.floats(0, 500), max_size=30),
    prices,
)
def test_no_other_plan_is_cheaper(times, retrievals, price):
    plan = np.sort([*retrievals, 500.0])
    bound = cost(times, clairvoyant_times(times, price), price)
    assert bound <= cost(times, plan, price) + 1e-6


def test_a_source_without_postings_is_never_retrieved():
    assert clairvoyant_times(np.empty(0), 1.0).size == 0


def test_a_higher_price_never_buys_more_retrievals():
    times = np.sort(np.random.default_rng(0).random(300) * 1000)
    sizes = [clairvoyant_times(times, price).size for price in np.geomspace(0.01, 1e4, 30)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) > (200, 0)
