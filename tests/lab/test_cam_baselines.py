"""The allocations that CAM is compared with."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lab.evaluations.cam.baselines import evenly, proportional, uniform


@given(
    arrays(np.float64, st.integers(1, 8), elements=st.floats(0, 9, width=32)).filter(lambda weights: weights.sum() > 0),
    st.integers(1, 10),
    st.integers(0, 60),
)
def test_proportional_shares_are_whole_and_within_pages_and_tasks(weights, slots, tasks):
    plain = proportional(weights, slots, tasks)
    spent = proportional(weights, slots, tasks, spend_all=True)
    assert (plain <= np.minimum(np.floor(weights / weights.sum() * tasks + 1e-9), slots)).all()
    assert spent.sum() == min(tasks, slots * np.count_nonzero(weights))
    assert spent.max() <= slots
    order = np.argsort(weights, kind="stable")
    assert (np.diff(spent[order]) >= -1).all()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(0, 99))
def test_even_checks_have_the_given_number_and_are_evenly_spaced(counts, seed):
    chosen = evenly(counts, 12, np.random.default_rng(seed))
    assert chosen.sum(axis=1).tolist() == counts
    for row, count in zip(chosen, counts, strict=True):
        if count:
            gaps = np.diff(np.append(np.flatnonzero(row), np.flatnonzero(row)[:1] + 12))
            assert set(gaps) <= {12 // count, -(-12 // count)}


def test_uniform_gives_every_page_as_much():
    assert uniform(200, 24, 480).tolist() == [2] * 200
    assert uniform(2, 3, 99).tolist() == [3, 3]
