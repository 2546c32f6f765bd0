"""Estimates that few records do not mislead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.jobs.algorithms.estimates import KEPT, PRIOR, best_explaining_attribute, estimated, explained, learn
from lab.benchmarks.splitting.hashing import combined

rounds = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000)), min_size=1, max_size=12), min_size=1, max_size=4
)


def keys(values):
    return np.array(values, dtype=np.uint64)


def learnt_from(all_rounds):
    learnt = None
    for each in all_rounds:
        learnt = learn(keys([value for value, _ in each]), np.array([float(time) for _, time in each]), learnt)
    return learnt


def weighted(all_rounds):
    """The slow, obvious twin: each record with the weight of its round."""
    return [
        (value, time, KEPT ** (len(all_rounds) - 1 - number))
        for number, each in enumerate(all_rounds)
        for value, time in each
    ]


@given(rounds)
def test_an_estimate_is_the_mean_of_own_records_and_five_of_the_mean_of_all(all_rounds):
    records = weighted(all_rounds)
    mean = sum(time * weight for _, time, weight in records) / sum(weight for *_, weight in records)
    expected = []
    for value in range(7):
        own = [(time, weight) for each, time, weight in records if each == value]
        count = sum(weight for _, weight in own)
        expected.append((sum(time * weight for time, weight in own) + PRIOR * mean) / (count + PRIOR))
    np.testing.assert_allclose(estimated(learnt_from(all_rounds), keys(range(7))), expected)


@given(rounds)
def test_explained_is_the_share_of_the_variance_between_values_less_that_of_chance(all_rounds):
    records = weighted(all_rounds)
    weights = sum(weight for *_, weight in records)
    mean = sum(time * weight for _, time, weight in records) / weights
    total = sum(weight * (time - mean) ** 2 for _, time, weight in records)
    between, values = 0.0, {value for value, *_ in records}
    for value in values:
        own = [(time, weight) for each, time, weight in records if each == value]
        count = sum(weight for _, weight in own)
        between += count * (sum(time * weight for time, weight in own) / count - mean) ** 2
    varies = total > 1e-6 and weights > len(values)
    by_chance = (len(values) - 1) / (weights - 1) if varies else 0
    expected = (between / total - by_chance) / (1 - by_chance) if varies else 0
    assert explained(learnt_from(all_rounds)) == pytest.approx(expected, abs=1e-6)


def test_an_attribute_of_which_each_record_has_its_own_value_explains_nothing():
    seconds = np.random.default_rng(3).lognormal(0, 1, 3000)
    seconds[:1000] *= 3
    own = learn(keys(range(3000)), seconds)
    host = learn(keys([0] * 1000 + [1] * 2000), seconds)
    noise = learn(keys(np.random.default_rng(4).integers(0, 500, 3000)), seconds)
    assert explained(own) == 0
    assert abs(explained(noise)) < 0.05
    assert best_explaining_attribute({"own": own, "noise": noise, "host": host}) == "host"


def test_estimates_follow_changed_values_and_forget_absent_words():
    changed = learnt_from([[(1, 10)] * 100, [(1, 20)] * 100, [(1, 20)] * 100, [(1, 20)] * 100])
    assert estimated(changed, keys([1]))[0] > 19
    away = learnt_from([[(1, 100)] * 5, *[[(2, 10)] * 50] * 6])
    assert estimated(away, keys([1]))[0] < 15


def test_where_nothing_is_known_nothing_is_expected():
    nothing = learn(keys([]), np.zeros(0))
    assert estimated(nothing, keys([1, 2])).tolist() == [0, 0]
    assert explained(nothing) == 0


def test_few_records_mislead_the_plain_mean_more_than_the_shrunken_one():
    random = np.random.default_rng(7)
    hosts = random.integers(0, 2000, 4000)
    speed = random.lognormal(0, 0.3, 2000)
    before, now = (speed[hosts] * random.lognormal(0, 1, 4000) for _ in range(2))
    learnt = learn(keys(hosts), before)
    plain = learnt.sums / learnt.counts
    truth = np.bincount(np.searchsorted(learnt.values, hosts), weights=now) / learnt.counts
    shrunken = estimated(learnt, learnt.values)
    assert np.mean((shrunken - truth) ** 2) < 0.7 * np.mean((plain - truth) ** 2)


def test_pair_of_attributes_is_chosen_only_where_it_explains_more():
    random = np.random.default_rng(5)
    hosts, sizes = random.integers(0, 20, 4000).astype(np.uint64), random.integers(0, 5, 4000).astype(np.uint64)
    by_host = random.lognormal(0, 1, 20)[hosts]
    for seconds, expected in ((by_host, "host"), (by_host * 2.0**sizes, "pair")):
        attributes = {"host": hosts, "size": sizes, "pair": combined(hosts, sizes)}
        learnt = {name: learn(values, seconds) for name, values in attributes.items()}
        assert best_explaining_attribute(learnt) == expected
