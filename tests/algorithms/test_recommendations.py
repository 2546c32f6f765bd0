"""What is recommended follows from counts: against slow and obvious reckonings."""

from collections import Counter, defaultdict
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recommendations.algorithms.likelihood import MIN_GAINED, growth, root_likelihood
from apps.recommendations.algorithms.likeness import MAX_NEIGHBOURS, MIN_ROOT, MIN_SHARED, neighbours

counts = st.integers(0, 200)


def slow_root(both: int, first: int, second: int, neither: int) -> float:
    """G, as textbooks have it: twice the sum of observed x ln(observed / expected)."""
    table = [[both, first], [second, neither]]
    total = both + first + second + neither
    ratio = 0.0
    for row in range(2):
        for column in range(2):
            observed = table[row][column]
            expected = sum(table[row]) * (table[0][column] + table[1][column]) / total if total else 0.0
            ratio += 2 * observed * log(observed / expected) if observed else 0.0
    sign = int(both * neither - first * second)
    return sqrt(max(ratio, 0.0)) * ((sign > 0) - (sign < 0))


@given(counts, counts, counts, counts)
def test_the_root_is_that_of_textbooks(both, first, second, neither):
    assert root_likelihood(both, first, second, neither) == pytest.approx(
        slow_root(both, first, second, neither), abs=1e-5
    )


@given(counts, counts, counts, counts)
def test_root_is_symmetric(both, first, second, neither):
    assert root_likelihood(both, first, second, neither) == pytest.approx(root_likelihood(both, second, first, neither))


def test_counts_below_nothing_are_refused():
    with pytest.raises(ValueError, match="negative"):
        root_likelihood(1, -1, 1, 1)


follows = st.lists(st.tuples(st.integers(1, 12), st.integers(100, 108)), unique=True, max_size=60)


def slow_neighbours(pairs: list[tuple[int, int]]) -> dict[int, dict[int, tuple[float, int]]]:
    followers = defaultdict(set)
    for person, source in pairs:
        followers[source].add(person)
    people = len({person for person, _ in pairs})
    found: dict[int, dict[int, tuple[float, int]]] = defaultdict(dict)
    for one in followers:
        for other in followers:
            shared = len(followers[one] & followers[other])
            if one == other or shared < MIN_SHARED:
                continue
            alone, theirs = len(followers[one]) - shared, len(followers[other]) - shared
            value = slow_root(shared, alone, theirs, people - shared - alone - theirs)
            if value >= MIN_ROOT:
                found[one][other] = (value, shared)
    return found


@given(follows)
def test_neighbours_are_those_that_sets_of_followers_say(pairs):
    people, sources = np.array(pairs, np.int64).reshape(-1, 2).T
    found: dict[int, dict[int, tuple[float, int]]] = defaultdict(dict)
    for source, other, value, shared in zip(*(column.tolist() for column in neighbours(people, sources)), strict=True):
        found[source][other] = (pytest.approx(value, abs=1e-5), shared)
    assert slow_neighbours(pairs) == found


def test_a_source_has_only_so_many_neighbours_the_likest_ones():
    # Everybody of 5 follows all of 40 sources; 20 others follow nothing of them.
    pairs = [(person, source) for person in range(5) for source in range(40)] + [(9 + n, 99) for n in range(20)]
    people, sources = np.array(pairs).T
    found = neighbours(people, sources)
    assert Counter(found.sources.tolist()) == dict.fromkeys(range(40), MAX_NEIGHBOURS)


def test_two_people_are_too_few_to_say_that_sources_go_together():
    pairs = [(1, 7), (1, 8), (2, 7), (2, 8), (3, 9), (4, 9)]
    assert neighbours(*np.array(pairs).T).sources.size == 0


periods = st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=6)


@given(periods)
def test_growth_is_that_of_shares_new_followers_and_readers_alike(rows):
    followed, followed_before, opened, opened_before = np.array(rows).T
    found = growth(followed, followed_before, opened, opened_before)
    for place, row in enumerate(rows):
        parts = [
            slow_root(row[0], row[1], followed.sum() - row[0], followed_before.sum() - row[1]),
            slow_root(row[2], row[3], opened.sum() - row[2], opened_before.sum() - row[3]),
        ]
        expected = sum(parts) / sqrt(2)
        if expected > 0 and row[0] < MIN_GAINED and row[2] - row[3] < MIN_GAINED:
            expected = 0.0
        assert found[place] == pytest.approx(expected, abs=1e-5)


def test_where_all_grow_alike_none_rises():
    found = growth([30, 60], [10, 20], [300, 30], [100, 10])
    assert found == pytest.approx([0, 0], abs=1e-6)
