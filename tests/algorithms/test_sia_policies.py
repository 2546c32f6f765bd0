"""The policies of the paper, and those it is compared with, as timetables."""

import numpy as np
import pytest

from apps.retrieval.algorithms.sia.allocation import square_root_allocation
from apps.retrieval.algorithms.sia.learning import learn
from apps.retrieval.algorithms.sia.policies import combined, resource_allocation, retrieval_scheduling, uniform
from apps.retrieval.algorithms.simulation.accounting import simulate_timetables
from apps.retrieval.algorithms.traces import Trace
from extensions.algorithms.cgm import cgm_age, cgm_freshness

POLICIES = [uniform, retrieval_scheduling, resource_allocation, combined, cgm_age, cgm_freshness]
NOW, END = 336.0, 1344.0  # two weeks learnt, six tested


def generator(seed=0):
    return np.random.default_rng(seed)


def postings(sources=40):
    """Eight weeks of sources that post in their own hours of the day, few of them much; the last never."""
    random, parts = generator(7), []
    for rate in np.geomspace(0.05, 40.0, sources - 1):
        begin, count = random.uniform(0, 24), random.poisson(rate * 56)
        parts.append(random.integers(0, 56, count) * 24 + (begin + random.normal(0, 2.5, count)) % 24)
    return Trace.of(range(sources), [*parts, []])


TRACE = postings()
LEARNED = learn(TRACE, NOW, random=generator(1))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("per_day", [1.0, 2.5, 4.0])
def test_the_budget_is_spent_within_the_bounds(policy, per_day):
    timetables = policy(LEARNED, per_day, random=generator(2), least=0.5, most=9.0)
    frequencies = np.array([timetable.per_day for timetable in timetables])
    assert len(timetables) == len(LEARNED)
    assert frequencies.mean() == pytest.approx(per_day, abs=0.01)
    assert frequencies.min() >= 0.5 - 1 / 28
    assert frequencies.max() <= 9.0 + 1 / 28


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_beyond_the_bounds_is_clipped(policy):
    for per_day, bound in ((0.01, 1 / 7), (99.0, 2.0)):
        timetables = policy(LEARNED, per_day, random=generator(2), most=2.0)
        assert [timetable.per_day for timetable in timetables] == pytest.approx([bound] * len(LEARNED))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_timetable_is_ascending_within_its_period(policy):
    for timetable in policy(LEARNED, 3.3, random=generator(2)):
        assert timetable.times.size
        assert (np.diff(timetable.times) >= 0).all()
        assert 0 <= timetable.times[0] <= timetable.times[-1] < timetable.period


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same_timetables(policy):
    one, other = (policy(LEARNED, 3.3, random=generator(2)) for _ in range(2))
    assert all((a.times == b.times).all() for a, b in zip(one, other, strict=True))


def test_uniform_retrievals_are_even_and_out_of_phase():
    timetables = uniform(LEARNED, 4.0, random=generator(2))
    assert all(np.diff(timetable.between(0.0, 100.0)) == pytest.approx(6.0) for timetable in timetables)
    phases = np.array([timetable.between(0.0, 6.0)[0] for timetable in timetables]) / 6
    assert len(np.unique(phases)) == len(timetables)
    assert 0.35 < phases.mean() < 0.65
    assert phases.std() > 0.2


def test_retrieval_scheduling_uses_the_best_times_of_each_pattern():
    for source, timetable in enumerate(retrieval_scheduling(LEARNED, 3.0, random=generator(2))):
        assert timetable.period == 24.0
        assert (timetable.times == LEARNED.schedule(source, 3)).all()


def test_resource_allocation_goes_with_the_square_root_of_weighted_rates():
    weights = generator(4).uniform(0.1, 5.0, len(LEARNED))
    timetables = resource_allocation(LEARNED, 2.0, random=generator(2), weights=weights)
    wanted = square_root_allocation(LEARNED.rates, 2.0 * len(LEARNED), weights=weights, least=1 / 7, most=288.0)
    assert [timetable.per_day for timetable in timetables] == pytest.approx(wanted)
    assert all(timetable.times.size == 1 for timetable in timetables)


def test_combined_follows_each_days_own_schedule():
    wanted = square_root_allocation(LEARNED.rates, 2.0 * len(LEARNED), least=1 / 7, most=288.0)
    for source, timetable in enumerate(combined(LEARNED, 2.0, random=generator(2))):
        assert timetable.period == 28 * 24.0
        assert timetable.per_day == pytest.approx(wanted[source], abs=1 / 28)
        days, hours = np.divmod(timetable.times, 24.0)
        for day in range(28):
            today = hours[days == day]
            assert today.size in {np.floor(wanted[source] + 1e-9), np.ceil(wanted[source] - 1e-9)}
            if today.size:
                assert today == pytest.approx(LEARNED.schedule(source, today.size))


def test_sources_retrieved_less_than_daily_are_spread_over_the_days():
    silent = learn(Trace.of(range(60), [[]] * 60), NOW, random=generator(1))
    days = [timetable.times[0] // 24 for timetable in combined(silent, 1 / 7, random=generator(2))]
    assert set(days) == set(range(7))


def test_the_order_of_the_paper_holds():
    test = TRACE.window(NOW, END)
    delay = {
        policy: simulate_timetables(test, policy(LEARNED, 4.0, random=generator(2)), NOW, END).delays.mean()
        for policy in POLICIES
    }
    assert delay[combined] < delay[resource_allocation] < delay[retrieval_scheduling] < delay[uniform]
    assert delay[combined] < delay[cgm_age] < delay[cgm_freshness]
    assert delay[uniform] == pytest.approx(3.0, rel=0.1)  # half a gap, in hours


def test_weights_shorten_the_wait_for_important_sources():
    weights = np.where(np.arange(len(LEARNED)) < 20, 9.0, 1.0)
    for policy in (resource_allocation, combined, cgm_age):
        plain, weighted = (
            sum(each.per_day for each in policy(LEARNED, 4.0, random=generator(2), weights=given)[:20])
            for given in (1.0, weights)
        )
        assert weighted > 1.5 * plain
