"""The rules of other feed readers, none of which uses later postings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.traces import Trace
from lab.evaluations.retrieval.peers import (
    Peer,
    commafeed,
    mavg,
    miniflux,
    newsblur,
)

RULES = [miniflux, newsblur, commafeed, mavg]
NOW = 1000.0
DAY = 24.0


def gap(rule, ages, *, factor=1.0, longest=168.0):
    """Hours to the next retrieval of a source whose postings are so many hours old, among others."""
    trace = Trace.of(["before", "retrieved", "after"], [[NOW - 1] * 9, [NOW - age for age in ages], [NOW - 2] * 9])
    now = np.array([NOW])
    return float(Peer(rule, trace, factor, longest).next(np.array([1]), now - 1, now)[0]) - NOW


@pytest.mark.parametrize(
    ("rule", "ages", "hours"),
    [
        (miniflux, [], 168),
        (miniflux, [5], 168),
        (miniflux, [1, 2, 3, 167], 42),
        (miniflux, [1, 2, 169], 1),  # one of two postings in the week, an hour apart: 168 fit into it
        (miniflux, [0, 0.7], 168 / 240),
        (newsblur, [], 13.5),
        (newsblur, [29 * DAY] * 30, 1.125),
        (newsblur, [29 * DAY] * 90, 1.125),
        (newsblur, [29 * DAY] * 15, 6.75),
        (newsblur, [31 * DAY] * 30, 13.5),
        (commafeed, [], 4),
        (commafeed, [31 * DAY], 4),
        (commafeed, [15 * DAY], 2),
        (commafeed, [8 * DAY], 1),
        (commafeed, [1], 4),
        (commafeed, [0, 0.4, 0.8], 0.2),
        (commafeed, [0, 4, 8], 1),
        (commafeed, [*range(20), 900], 0.5),
        (commafeed, [0, 0.01], 1 / 12),
        (mavg, [], 168),
        (mavg, [5], 168),
        (mavg, [0, 6], 6),
        (mavg, [30, 40], 20),
        (mavg, [*range(10), 900], 1),
    ],
)
def test_each_rule_gives_the_gap_that_its_authors_mean(rule, ages, hours):
    assert gap(rule, ages) == pytest.approx(hours)


@pytest.mark.parametrize("rule", RULES)
def test_a_factor_shortens_every_gap_within_the_bounds(rule):
    ages = [1, 9, 20]
    assert gap(rule, ages, factor=2.0) == pytest.approx(gap(rule, ages) / 2)
    assert gap(rule, ages, factor=1e9) == pytest.approx(1 / 12)
    assert gap(rule, ages, factor=1e-9, longest=24.0) == pytest.approx(24)


@pytest.mark.parametrize("rule", RULES)
@given(
    known=st.lists(st.integers(0, 1000), max_size=30),
    future=st.lists(st.integers(1001, 1500), max_size=30),
    other_future=st.lists(st.integers(1001, 1500), max_size=30),
)
def test_no_rule_uses_postings_after_now(rule, known, future, other_future):
    now = np.array([NOW, NOW])
    answers = [
        Peer(rule, Trace.of(["a", "b"], [known + later, later]), 1.0).next(np.array([0, 1]), now - 1, now).tolist()
        for later in (future, other_future)
    ]
    assert answers[0] == answers[1]
