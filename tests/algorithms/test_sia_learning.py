"""Rates, patterns and clusters from recorded postings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.exact import optimal_times
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.learning import daily_patterns, k_means, learn
from apps.retrieval.algorithms.traces import Trace


def generator(seed=0):
    return np.random.default_rng(seed)


def test_a_rate_is_the_raw_count_of_the_window():
    trace = Trace.of(["busy", "silent", "late"], [[-1.0, 0.0, 5.0, 335.9], [], [336.0, 337.0]])
    assert learn(trace, 336.0, random=generator()).rates.tolist() == [3 / 336, 0.0, 0.0]
    assert learn(trace, 336.0, random=generator(), window=24.0).rates.tolist() == [1 / 24, 0.0, 0.0]


def test_a_pattern_overlays_the_days():
    trace = Trace.of(["a", "silent"], [[8.5, 32.1, 47.99, 15.0], []])
    shares, flat = daily_patterns(trace)
    assert {hour: share for hour, share in enumerate(shares) if share} == {8: 0.5, 15: 0.25, 23: 0.25}
    assert flat == pytest.approx(np.full(24, 1 / 24))


def test_postings_at_or_after_now_are_ignored():
    random = generator()
    parts = [random.uniform(0, 672, 40) for _ in range(30)]
    whole, past = Trace.of(range(30), parts), Trace.of(range(30), [part[part < 336.0] for part in parts])
    one, other = learn(whole, 336.0, random=generator(1)), learn(past, 336.0, random=generator(1))
    assert (one.rates == other.rates).all()
    assert (one.centroids == other.centroids).all()
    assert (one.membership == other.membership).all()


@pytest.mark.parametrize(
    ("active", "clusters"), [(0, 0), (1, 1), (2, 2), (15, 2), (24, 3), (40, 5), (96, 12), (150, 12)]
)
def test_there_is_a_pattern_per_eight_active_sources_up_to_twelve(active, clusters):
    random = generator()
    parts = [random.uniform(0, 336, 5) for _ in range(active)] + [[], []]
    learned = learn(Trace.of(range(active + 2), parts), 336.0, random=random)
    assert learned.centroids.shape == (clusters + 1, 24)
    assert learned.centroids.sum(axis=1) == pytest.approx(np.ones(clusters + 1))
    assert learned.centroids[learned.membership[-1]] == pytest.approx(np.full(24, 1 / 24))
    assert set(learned.membership[:active].tolist()) == set(range(clusters))


def test_sources_of_the_same_profile_share_a_centroid():
    random = generator(3)
    hours = [9, 20] * 12
    parts = [np.arange(14) * 24 + hour + random.random(14) for hour in hours]
    learned = learn(Trace.of(range(24), parts), 336.0, random=random)
    for source, hour in enumerate(hours):
        assert learned.centroids[learned.membership[source]][hour] == pytest.approx(1.0)


def test_a_schedule_is_the_exact_one_of_the_centroid_and_is_solved_once():
    random = generator(3)
    learned = learn(Trace.of(range(9), [random.uniform(8, 18, 30) for _ in range(9)]), 336.0, random=random)
    centroid = learned.centroids[learned.membership[4]]
    assert learned.schedule(4, 3) == pytest.approx(optimal_times(Profile(centroid, period=24.0), 3))
    assert learned.schedule(4, 3) is learned.schedule(4, 3)


points = st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=1, max_size=20).map(lambda rows: np.array(rows) * 1.0)


@given(points, st.integers(1, 6), st.integers(0, 99))
def test_clusters_are_settled(rows, clusters, seed):
    clusters = min(clusters, len(rows))
    centroids, membership = k_means(rows, clusters, random=generator(seed))
    # Each cluster has a point, each centroid is the mean of its own, no point is nearer to another one's.
    assert set(membership.tolist()) == set(range(clusters))
    for cluster in range(clusters):
        assert centroids[cluster] == pytest.approx(rows[membership == cluster].mean(axis=0))
    distances = ((rows[:, None] - centroids) ** 2).sum(axis=2)
    assert distances[np.arange(len(rows)), membership] == pytest.approx(distances.min(axis=1))


def test_three_heaps_are_found():
    random = generator(5)
    heaps = np.repeat(np.identity(3) * 10, 20, axis=0)
    _, membership = k_means(heaps + random.normal(size=heaps.shape), 3, random=random)
    assert [len(set(membership[start : start + 20].tolist())) for start in (0, 20, 40)] == [1, 1, 1]
    assert len(set(membership.tolist())) == 3


def test_the_same_seed_gives_the_same_clusters():
    rows = generator(1).random((50, 24))
    (one, own), (two, other) = (k_means(rows, 6, random=generator(2)) for _ in range(2))
    assert (one == two).all()
    assert (own == other).all()


@pytest.mark.parametrize("clusters", [0, 4])
def test_clusters_that_cannot_be_made_are_refused(clusters):
    with pytest.raises(ValueError, match="clusters"):
        k_means(np.zeros((3, 2)), clusters, random=generator())
