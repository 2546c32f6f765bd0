"""The generator keeps to its rates."""

import numpy as np
import pytest

from lab.evaluations.retrieval.synthetic import VARIANTS, generate, synthetic_fold

WEEKS = 8


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_gives_the_same_postings_and_another_seed_others(variant):
    trace, _ = generate(variant, sources=20, seed=3)
    again, _ = generate(variant, sources=20, seed=3)
    other, _ = generate(variant, sources=20, seed=4)
    assert trace.times.tolist() == again.times.tolist()
    assert trace.times.tolist() != other.times.tolist()
    assert trace.times.min() >= 0
    assert trace.times.max() < WEEKS * 168


def test_few_sources_dominate_and_the_mean_is_2_6_postings_a_day():
    _, profiles = generate("poisson", sources=4000, weeks=1)
    rates = np.array([profile.total for profile in profiles]) / 7
    assert rates.mean() == pytest.approx(2.6)
    # The power law in closed form: quantiles from 0.02 to 150 a day, of which the mean is 2.24.
    levels = np.array([0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
    expected = 0.02 * (1 - levels * (1 - (0.02 / 150) ** 0.45)) ** (-1 / 0.45) * 2.6 / 2.24
    assert np.quantile(rates, levels) == pytest.approx(expected, rel=0.2)


def test_postings_come_as_often_and_when_the_true_profiles_say():
    trace, profiles = generate("poisson", sources=30, weeks=200)
    for times, profile in zip(trace.parts, profiles, strict=True):
        expected = profile.total * 200
        assert abs(times.size - expected) < 6 * np.sqrt(expected)
        by_hour = np.bincount((times % 168).astype(int), minlength=168)
        # Pearson's statistic over the hours that expect enough has their number as its mean.
        likely = profile.rates * 200 > 5
        if likely.sum() > 20:
            excess = (by_hour - profile.rates * 200)[likely] ** 2 / (profile.rates * 200)[likely]
            assert excess.sum() < likely.sum() + 6 * np.sqrt(2 * likely.sum())


def weekly_counts(variant):
    trace, profiles = generate(variant, sources=400, weeks=WEEKS, seed=5)
    expected = np.array([profile.total for profile in profiles])
    weeks = (trace.times // 168).astype(int)
    counts = np.bincount(trace.owners * WEEKS + weeks, minlength=400 * WEEKS).reshape(400, WEEKS)
    return counts[expected > 100], expected[expected > 100]


@pytest.mark.parametrize(("variant", "silent"), [("poisson", 0.0), ("drift", 0.03)])
def test_some_weeks_are_silent_where_rates_drift(variant, silent):
    counts, _ = weekly_counts(variant)
    assert (counts == 0).mean() == pytest.approx(silent, abs=0.02)


@pytest.mark.parametrize(("variant", "spread"), [("poisson", 0.0), ("drift", 0.5)])
def test_weekly_counts_spread_as_far_as_the_drift(variant, spread):
    counts, expected = weekly_counts(variant)
    busy = expected > 300
    ratios = np.log((counts[busy] / expected[busy, None])[counts[busy] > 0])
    assert ratios.std() == pytest.approx(spread, abs=0.12)


def test_postings_of_bursts_are_close_together():
    def share_soon(variant):
        trace, _ = generate(variant, sources=200, seed=6)
        slow = [np.diff(times) for times in trace.parts if 20 < times.size < 60]
        return float((np.concatenate(slow) < 1.0).mean())

    assert share_soon("bursts") > share_soon("drift") + 0.15


def test_the_synthetic_fold_has_two_weeks_to_learn_from_and_six_of_test():
    fold = synthetic_fold("bursts", sources=25)
    assert (fold.name, fold.days, len(fold.profiles)) == ("synthetic", 42.0, 25)
    assert fold.learning.times.size + fold.test.times.size == fold.trace.times.size
