"""Posting rates and patterns learned from the past of each source, section 3.3 of Sia, Cho and Cho."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.exact import optimal_times
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.traces import Trace

WINDOW = 14 * DAY  # h; the paper saw no gain beyond two weeks
HOURS = 24
MAX_PATTERNS = 12
SOURCES_PER_PATTERN = 8
RESTARTS = 3
ROUNDS = 100  # of k-means, at most
Solver = Callable[[Profile, int], FloatArray]  # the times of so many retrievals in a period


@dataclass(frozen=True)
class Learned:
    """What the policies of the paper know of n sources; schedules are solved once per pattern."""

    rates: FloatArray  # (n,) postings per hour
    centroids: FloatArray  # (K + 1, 24) shares of a day's postings in each hour; the last, flat one is of the silent
    membership: IntArray  # (n,) the centroid of each source
    _schedules: dict[tuple[Solver, int, int], FloatArray] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return self.rates.size

    def schedule(self, source: int, retrievals: int, solver: Solver = optimal_times) -> FloatArray:
        """The times in a day that a solver finds for a source with the pattern of its centroid; array (retrievals,)."""
        key = solver, int(self.membership[source]), retrievals
        if key not in self._schedules:
            self._schedules[key] = solver(Profile(self.centroids[key[1]], period=DAY), retrievals)
        return self._schedules[key]


def learn(history: Trace, now: float, *, random: np.random.Generator, window: float = WINDOW) -> Learned:
    """Rates and patterns from the postings of the last `window` hours before `now`.

    A source's rate is its raw count. Its pattern is the centroid of its cluster: sources are clustered by the shares of
    their postings in the 24 hours of the day. Those without a posting are taken to post evenly.

    Parameters
    ----------
    history : Trace
        Postings at or after `now` are ignored.
    now : float
        Hours on the axis of `calendar`.
    random : Generator
        For the starts of k-means.
    window : float
        Hours.

    Examples
    --------
    >>> trace = Trace.of(["a", "b", "c"], [[9.0, 33.0], [21.0], []])
    >>> learned = learn(trace, 48.0, random=np.random.default_rng(0), window=48.0)
    >>> (learned.rates * 48).tolist(), [int(learned.centroids[k].argmax()) for k in learned.membership[:2]]
    ([2.0, 1.0, 0.0], [9, 21])
    """
    recent = history.window(now - window, now)
    shares = daily_patterns(recent)
    active = np.flatnonzero(recent.counts)
    clusters = min(MAX_PATTERNS, max(2, active.size // SOURCES_PER_PATTERN), active.size)
    flat = np.full((1, HOURS), 1 / HOURS)
    membership = np.full(len(history), clusters)
    if not active.size:
        return Learned(recent.counts / window, flat, membership)
    centroids, membership[active] = k_means(shares[active], clusters, random=random)
    return Learned(recent.counts / window, np.concatenate((centroids, flat)), membership)


def daily_patterns(history: Trace) -> FloatArray:
    """Share of each source's postings in each hour of the day, days overlaid; (n, 24). Flat for silent sources."""
    hours = np.mod(history.times, DAY).astype(np.int64) % HOURS
    counts = np.bincount(history.owners * HOURS + hours, minlength=len(history) * HOURS).reshape(-1, HOURS)
    counts = np.where(history.counts[:, None], counts, 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def k_means(
    points: FloatArray, clusters: int, *, random: np.random.Generator, restarts: int = RESTARTS
) -> tuple[FloatArray, IntArray]:
    """Centroids (clusters, d) and the nearest one of each point (n,), by Lloyd's rounds; the best of several starts.

    Starts are drawn far apart (D. Arthur, S. Vassilvitskii, "k-means++", SODA 2007). A cluster that loses all its
    points takes the point that is farthest from its centroid.

    Raises
    ------
    ValueError
        If there are fewer points than clusters, or no cluster is wanted.

    Examples
    --------
    >>> centroids, membership = k_means(np.array([[0.0], [1.0], [9.0]]), 2, random=np.random.default_rng(0))
    >>> sorted(centroids.ravel().tolist()), bool(membership[0] == membership[1] != membership[2])
    ([0.5, 9.0], True)
    """
    if not 1 <= clusters <= len(points):
        raise ValueError(f"{len(points)} points do not make {clusters} clusters")
    runs = [_lloyd(points, _distant_points(points, clusters, random)) for _ in range(restarts)]
    _, centroids, membership = min(runs, key=lambda run: run[0])
    return centroids, membership


def _squared_distances(points: FloatArray, centroids: FloatArray) -> FloatArray:
    return np.asarray(((points[:, None] - centroids) ** 2).sum(axis=2))


def _distant_points(points: FloatArray, clusters: int, random: np.random.Generator) -> FloatArray:
    chosen = points[random.integers(len(points))][None]
    for _ in range(clusters - 1):
        distances = _squared_distances(points, chosen).min(axis=1)
        chances = distances / distances.sum() if distances.any() else None
        chosen = np.concatenate((chosen, points[random.choice(len(points), p=chances)][None]))
    return np.asarray(chosen)


def _lloyd(points: FloatArray, centroids: FloatArray) -> tuple[float, FloatArray, IntArray]:
    """Sum of squared distances, centroids, membership."""
    clusters, membership = len(centroids), np.full(len(points), -1)
    for _ in range(ROUNDS):
        distances = _squared_distances(points, centroids)
        nearest = _without_empty(distances.argmin(axis=1), distances)
        if (nearest == membership).all():
            break
        membership = nearest
        sums = np.zeros_like(centroids)
        np.add.at(sums, membership, points)
        centroids = sums / np.bincount(membership, minlength=clusters)[:, None]
    return float(((points - centroids[membership]) ** 2).sum()), centroids, membership


def _without_empty(nearest: IntArray, distances: FloatArray) -> IntArray:
    """Every cluster gets a point: an empty one the farthest of those whose clusters have others."""
    counts = np.bincount(nearest, minlength=distances.shape[1])
    for empty in np.flatnonzero(counts == 0):
        own = np.where(counts[nearest] > 1, distances[np.arange(len(nearest)), nearest], -1.0)
        farthest = int(own.argmax())
        counts[nearest[farthest]] -= 1
        nearest[farthest], counts[empty] = empty, 1
    return nearest
