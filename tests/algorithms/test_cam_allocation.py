"""CAM's choice of update instants, beside trying out every subset."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from apps.retrieval.algorithms.cam.allocation import (
    best_pairs,
    best_pairs_without_long_gaps,
    longest_gaps,
    share_out,
)

probabilities = st.floats(0, 1, width=32)
few = arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 4)), elements=probabilities)
choices = arrays(np.bool_, st.tuples(st.integers(1, 4), st.integers(1, 12)))


def subsets(gains, tasks, least, most):
    """Every choice of so many pairs that keeps each page within its bounds."""
    pairs = [(page, slot) for page in range(gains.shape[0]) for slot in range(gains.shape[1])]
    for chosen in combinations(pairs, tasks):
        counts = [sum(page == number for page, _ in chosen) for number in range(gains.shape[0])]
        if all(low <= count <= high for low, count, high in zip(least, counts, most, strict=True)):
            yield sum(gains[pair] for pair in chosen)


@given(few, st.data())
def test_no_other_pairs_are_worth_more(gains, data):
    n, p = gains.shape
    most = data.draw(st.lists(st.integers(0, p), min_size=n, max_size=n))
    least = [data.draw(st.integers(0, high)) for high in most]
    tasks = data.draw(st.integers(sum(least), sum(most)))
    chosen = best_pairs(gains, tasks, least=least, most=most)
    assert chosen.sum() == tasks
    assert all(low <= count <= high for low, count, high in zip(least, chosen.sum(axis=1), most, strict=True))
    assert gains[chosen].sum() == pytest.approx(max(subsets(gains, tasks, least, most)))


@given(few, st.integers(0, 20))
def test_all_tasks_are_used_while_there_are_pairs(gains, tasks):
    assert best_pairs(gains, tasks).sum() == min(tasks, gains.size)


def test_pairs_that_do_not_exist_are_never_chosen():
    gains = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
    assert best_pairs(gains, 4, least=1).tolist() == [[True, False], [False, False]]


def test_too_few_tasks_for_the_bounds_are_refused():
    with pytest.raises(ValueError, match="2 tasks are too few: the pages need 3 at least"):
        best_pairs(np.ones((3, 2)), 2, least=1)


@given(few, st.integers(0, 12), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_exploring_takes_its_share_and_no_more_than_all_tasks(gains, tasks, share):
    doubt = gains[::-1, ::-1]
    chosen = share_out(np.ones(len(gains)), gains, doubt, tasks, share=share)
    assert chosen.sum() == min(tasks, gains.size)
    # What is not explored is the optimum of fewer tasks.
    certain = best_pairs(gains, tasks - round(share * tasks))
    assert (chosen | ~certain).all()


def test_exploring_goes_where_least_is_known_and_not_to_full_pages():
    gains = np.array([[0.9, 0.8, 0.0], [0.7, 0.0, 0.0]])
    doubt = np.array([[0.0, 0.0, 0.9], [0.0, 0.3, 0.2]])
    chosen = share_out(np.ones(len(gains)), gains, doubt, 4, share=0.25, most=[2, 3])
    assert chosen.astype(int).tolist() == [[1, 1, 0], [1, 1, 0]]


def best_by_trying(gains, tasks, longest, most):
    """The worth of the best choice of all that leave no longer gap; with more tasks where these are too few."""
    n, p = gains.shape
    rows = np.array(list(product([False, True], repeat=p)))
    worth_of = np.full((n, p + 1), -np.inf)  # by page and number of checks
    for page in range(n):
        allowed = rows[longest_gaps(rows) <= longest[page]]
        for count in range(p + 1):
            worth_of[page, count] = (allowed[allowed.sum(axis=1) == count] @ gains[page]).max(initial=-np.inf)
    fewest = np.isfinite(worth_of).argmax(axis=1)
    worth_of[np.arange(p + 1) > np.maximum(most, fewest)[:, None]] = -np.inf
    together = np.zeros(1)
    for row in worth_of:
        together = np.array([
            max(
                (together[before] + row[count - before] for before in range(count + 1)
                 if before < together.size and count - before <= p),
                default=-np.inf,
            )
            for count in range(together.size + p)
        ])  # fmt: skip
    return together[: max(tasks, fewest.sum()) + 1].max()


@pytest.mark.parametrize("count", [50, pytest.param(200, marks=pytest.mark.trial)])
def test_with_a_longest_gap_random_choices_are_as_good_as_the_best_of_all(count):
    random = np.random.default_rng(3)
    shares = []
    for _ in range(count):
        n, p = int(random.integers(1, 4)), int(random.integers(3, 10))
        gains = random.gamma(random.choice([0.3, 1.0, 5.0]), size=(n, p)) * random.lognormal(0, 1.5, (n, 1))
        longest, tasks = random.integers(1, p + 1, n), int(random.integers(1, n * p + 1))
        most = random.integers(2, p + 1, n)
        chosen = best_pairs_without_long_gaps(gains, tasks, longest, most=most)
        assert (longest_gaps(chosen) <= longest).all()
        shares.append(gains[chosen].sum() / best_by_trying(gains, tasks, longest, most))
    assert min(shares) >= 0.99
    assert max(shares) <= 1 + 1e-9


def test_pages_of_very_different_worth_share_one_price():
    """A page worth a thousandth has the checks that its longest gap demands and no more, wherever these are best."""
    gains = np.array([[1.0, 2.0, 3.0, 4.0], [0.003, 0.001, 0.002, 0.004]])
    chosen = best_pairs_without_long_gaps(gains, 5, 2)
    assert chosen.astype(int).tolist() == [[0, 1, 1, 1], [1, 0, 1, 0]]


@given(choices)
def test_the_longest_gap_is_that_of_a_walk_around_the_epoch(chosen):
    for row, gap in zip(chosen, longest_gaps(chosen), strict=True):
        at = np.flatnonzero(row)
        walked = np.diff(np.append(at, at[:1] + row.size)).max() if at.size else row.size + 1
        assert gap == walked
