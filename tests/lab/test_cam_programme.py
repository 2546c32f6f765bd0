"""Distinct versions: the dynamic programme beside every subset of slots."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lab.evaluations.cam.pages import Pages, caught
from lab.evaluations.cam.programme import best_checks, distinct_versions

probability = st.floats(0, 1, width=32)
page = arrays(np.float64, st.integers(1, 7), elements=probability)


def versions(probabilities, checks):
    """Distinct versions expected to be caught by checks in these slots."""
    total, begin = 0.0, 0
    for check in checks:
        total += 1 - np.prod(1 - probabilities[begin : check + 1])
        begin = check + 1
    return total


@given(page)
def test_each_number_of_checks_is_placed_optimally(probabilities):
    programme = distinct_versions(probabilities)
    for count in range(probabilities.size + 1):
        best = max(versions(probabilities, checks) for checks in combinations(range(probabilities.size), count))
        assert programme.values[count] == pytest.approx(best)
        checks = programme.checks(count)
        assert len(checks) == len(set(checks)) == count
        assert checks == sorted(checks)
        assert versions(probabilities, checks) == pytest.approx(best)


@given(arrays(np.float64, st.integers(1, 24), elements=probability))
def test_the_value_of_a_page_is_concave_in_its_checks(probabilities):
    gains = np.diff(distinct_versions(probabilities).values)
    assert (gains >= -1e-12).all()
    assert (np.diff(gains) <= 1e-12).all()


@given(st.integers(1, 3), st.data())
def test_no_other_checks_of_all_pages_catch_more(pages, data):
    p = 6 // pages
    probabilities = data.draw(arrays(np.float64, (pages, p), elements=probability))
    weights = np.array(data.draw(st.lists(st.floats(0, 5, width=32), min_size=pages, max_size=pages)))
    tasks = data.draw(st.integers(0, pages * p))

    def value(chosen):
        rows = zip(weights, probabilities, chosen, strict=True)
        return sum(weight * versions(row, np.flatnonzero(checks)) for weight, row, checks in rows)

    chosen = best_checks(weights, probabilities, tasks)
    assert chosen.sum() == tasks
    every = combinations(range(pages * p), tasks)
    best = max(value(np.isin(np.arange(pages * p), list(pairs)).reshape(pages, p)) for pairs in every)
    assert value(chosen) == pytest.approx(best)


def test_bounds_of_a_page_are_kept():
    chosen = best_checks([9, 1], np.full((2, 4), 0.5), 4, least=1, most=3)
    assert chosen.sum(axis=1).tolist() == [3, 1]


def test_the_predicted_versions_are_caught():
    random = np.random.default_rng(3)
    probabilities = random.random((1, 8)) ** 2
    world = Pages(np.ones(1), probabilities, random.random((4_000, 1, 8)) < probabilities)
    programme = distinct_versions(probabilities[0])
    chosen = np.isin(np.arange(8), [*programme.checks(2), 7])[None]  # nothing is carried on into the next epoch
    promised = versions(probabilities[0], np.flatnonzero(chosen[0])) / probabilities.sum()
    assert caught(world, chosen).newest == pytest.approx(promised, rel=0.03)
