"""Delay, freshness and age, against a clock that goes step by step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import (
    expected_delay,
    expected_delay_between,
    mean_age,
    mean_freshness,
)
from lab.papers.metrics import age, delays, freshness
from tests.algorithms.posting_rates import BEST_FOR_OFFICE, EXAMPLE, OFFICE, plans, profiles

hours = st.lists(st.integers(0, 40), max_size=8).map(sorted)


def clock(postings, retrievals, times):
    """Age and freshness by walking through time."""
    ages, fresh = [], []
    for now in times:
        latest = max([tau for tau in retrievals if tau <= now], default=-1)
        pending = [t for t in postings if latest < t <= now]
        ages.append(now - min(pending) if pending else 0)
        fresh.append(0 if pending else 1)
    return ages, fresh


@given(hours, hours)
def test_a_posting_waits_for_the_first_retrieval_not_before_it(postings, retrievals):
    retrievals = [*retrievals, 41]
    expected = [min(tau for tau in retrievals if tau >= t) - t for t in postings]
    assert delays(postings, retrievals).tolist() == expected


def test_a_posting_after_the_last_retrieval_has_no_delay_yet():
    with pytest.raises(ValueError, match="never retrieved"):
        delays([5.0], retrievals=[4.0])


@given(hours, hours)
def test_age_and_freshness_follow_the_clock(postings, retrievals):
    times = np.arange(0, 42, 0.5)
    ages, fresh = clock(postings, retrievals, times)
    assert age(postings, retrievals, times).tolist() == ages
    assert freshness(postings, retrievals, times).tolist() == fresh


@given(hours, hours, st.integers(0, 20), st.integers(21, 45))
def test_time_averages_are_those_of_the_clock(postings, retrievals, start, end):
    # All events lie on whole hours, so both are linear in between: middles of half-hours average exactly.
    middles = np.arange(start + 0.25, end, 0.5)
    ages, fresh = clock(postings, retrievals, middles)
    assert mean_age(postings, retrievals, start, end) == pytest.approx(np.mean(ages))
    assert mean_freshness(postings, retrievals, start, end) == pytest.approx(np.mean(fresh))


def test_delay_grows_with_every_pending_posting_and_age_does_not():
    assert delays([1.0, 2.0, 3.0], [4.0]).sum() == 6.0
    assert age([1.0, 2.0, 3.0], [4.0], [3.999]).round(3).tolist() == [2.999]


@given(profiles(), st.floats(0, 3), st.floats(0, 2), st.integers(-3, 20_000))
def test_the_expected_delay_is_the_integral_of_lemma_1(profile, start, length, periods):
    start, length = start * profile.period, length * profile.period
    edges = np.union1d(np.arange(0, 6 * profile.rates.size + 1) * profile.bin_hours, [start, start + length])
    edges = edges[(edges >= start) & (edges <= start + length)]
    middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    slow = float((profile.rate(middles) * widths * (start + length - middles)).sum())
    shift = periods * profile.period
    fast = expected_delay_between(profile, start + shift, start + shift + length)
    assert fast == pytest.approx(slow, rel=1e-6, abs=1e-6 * profile.total * profile.period)


@given(st.data())
def test_a_plan_costs_what_its_gaps_cost(data):
    profile = data.draw(profiles())
    plan = data.draw(plans(profile))
    gaps = zip(plan, [*plan[1:], plan[0] + profile.period], strict=True)
    assert expected_delay(profile, plan) == pytest.approx(
        sum(float(expected_delay_between(profile, start, end)) for start, end in gaps)
    )


def test_a_constant_rate_waits_half_the_square_of_the_gap():
    flat = Profile(np.full(24, 3.0), period=24.0)
    assert expected_delay_between(flat, 5.25, 9.75) == pytest.approx(3.0 * 4.5**2 / 2)
    assert expected_delay(flat, [1.0, 7.0, 13.0, 19.0]) == pytest.approx(3.0 * 24**2 / 8)


def test_example_1_of_the_paper():
    everywhere = [expected_delay(EXAMPLE, [time]) for time in np.arange(0, 2, 0.01)]
    assert min(everywhere) == pytest.approx(0.5)
    assert expected_delay(EXAMPLE, [1.0]) == pytest.approx(0.5)
    assert expected_delay(EXAMPLE, [0.0]) == pytest.approx(1.5) == pytest.approx(max(everywhere))
    assert np.mean(everywhere) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("retrievals", [1, 2, 3, 4])
def test_known_plans_have_their_known_delay(retrievals):
    times, delay = BEST_FOR_OFFICE[retrievals]
    assert expected_delay(OFFICE, times) == pytest.approx(delay, abs=1e-4)


def test_simulated_postings_wait_as_long_as_expected():
    random = np.random.default_rng(1)
    postings = np.sort(random.integers(0, 4000, 60_000) * 24 + random.choice(24, 60_000, p=OFFICE.rates / OFFICE.total)
                       + random.random(60_000))  # fmt: skip
    retrievals = (np.arange(4002)[:, None] * 24 + [9.0, 12.5, 18.0]).ravel()
    assert delays(postings, retrievals).mean() == pytest.approx(
        expected_delay(OFFICE, [9.0, 12.5, 18.0]) / OFFICE.total, rel=0.02
    )


@pytest.mark.parametrize(("times", "message"), [([], "without"), ([3.0, 2.0], "ascending"), ([0.0, 25.0], "period")])
def test_a_plan_that_is_none_is_refused(times, message):
    with pytest.raises(ValueError, match=message):
        expected_delay(OFFICE, times)
