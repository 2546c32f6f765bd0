"""What CAM's allocation is compared with, and CAM epoch by epoch on pages of which only the checks are known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.cam.allocation import share_out
from apps.retrieval.algorithms.cam.tracking import Observations, Tracked, track

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def uniform(pages: int, slots: int, tasks: int) -> IntArray:
    """The same number of checks of every page, whole and as large as `tasks` permit, shape (pages,).

    >>> uniform(3, 24, 8).tolist()
    [2, 2, 2]
    """
    return np.full(pages, min(tasks // pages, slots), dtype=np.int64)


def proportional(weights: ArrayLike, slots: int, tasks: int, *, spend_all: bool = False) -> IntArray:
    """Checks in proportion to weights, whole, and at most one per update instant of a page; shape (n,).

    Parameters
    ----------
    weights : array (n,), not all 0
        The pages' weights, or these times their change frequencies.
    slots : int
        Update instants of each page.
    spend_all : bool
        Whether what a page cannot use goes to the others, again in proportion, and so do the fractions. Otherwise it is
        left unspent, as the plain rule does.

    Examples
    --------
    >>> proportional([8, 1, 1], 4, 10).tolist(), proportional([8, 1, 1], 4, 10, spend_all=True).tolist()
    ([4, 1, 1], [4, 3, 3])
    """
    weights = np.asarray(weights, dtype=np.float64)
    shares = weights / weights.sum() * tasks
    if not spend_all:
        return np.asarray(np.minimum(np.floor(shares), slots), dtype=np.int64)
    full = np.zeros(weights.size, dtype=bool)
    while (over := ~full & (shares > slots)).any():
        full |= over
        rest = np.where(full, 0.0, weights)
        spread = rest / rest.sum() * (tasks - slots * full.sum()) if rest.any() else rest
        shares = np.where(full, slots, spread)
    counts = np.floor(shares)
    missing = round(shares.sum() - counts.sum())
    counts[np.argsort(counts - shares, kind="stable")[:missing]] += 1
    return np.asarray(counts, dtype=np.int64)


def evenly(counts: ArrayLike, slots: int, random: np.random.Generator) -> BoolArray:
    """The given number of checks of each page, evenly spaced with a random phase, shape (n, slots).

    >>> evenly([1, 3, 6], 6, np.random.default_rng(0)).sum(axis=1).tolist()
    [1, 3, 6]
    """
    counts = np.asarray(counts, dtype=np.int64)
    chosen = np.zeros((counts.size, slots), dtype=bool)
    for page, (count, phase) in enumerate(zip(counts.tolist(), random.random(counts.size), strict=True)):
        chosen[page, np.floor((np.arange(count) + phase) * slots / max(count, 1)).astype(np.int64)] = True
    return chosen


def tracking_checks(pages: int, slots: int, tasks: int, random: np.random.Generator) -> BoolArray:
    """The checks of an epoch of the tracking period: all pages equally often, at different update instants each time.

    >>> tracking_checks(2, 6, 6, np.random.default_rng(0)).sum(axis=1).tolist()
    [3, 3]
    """
    counts = np.full(pages, tasks // pages)
    counts[random.permutation(pages)[: tasks % pages]] += 1
    return evenly(np.minimum(counts, slots), slots, random)


@dataclass(frozen=True)
class Epoch:
    """The checks of the next epoch, and what they were computed from."""

    tracked: Tracked
    chosen: BoolArray  # (n, p)


def next_epoch(
    observations: Observations, weights: ArrayLike, believed: ArrayLike, tasks: int, *, period: float, now: float
) -> Epoch:
    """Learn from all checks until now, and share out the tasks of the next epoch.

    Parameters
    ----------
    observations : Observations
        Of pages 0..n-1.
    weights : array (n,)
        W_i; relevance may have been revisited since the former epoch.
    believed : array (n, p)
        Probabilities believed before anything is seen.
    period, now : float, hours

    Examples
    --------
    Of two pages that differ only in what was seen, the one that never changed gets the rest of the tasks:

    >>> seen = Observations.of([0, 1], [0, 0], [2, 2], [True, False])
    >>> next_epoch(seen, [1.0, 1.0], [[0.3, 0.3]] * 2, 3, period=2.0, now=2.0).chosen.astype(int).tolist()
    [[1, 1], [1, 0]]
    """
    tracked = track(observations, believed, period=period, now=now)
    return Epoch(tracked, share_out(weights, tracked.probability, tracked.doubt, tasks))
