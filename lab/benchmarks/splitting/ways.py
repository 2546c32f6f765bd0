"""Ways to split work among workers: work and a number of splits in, the split of each task out, the same for all."""

from collections.abc import Callable, Mapping
from heapq import heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.jobs.algorithms.estimates import Keys
from lab.papers.tetea import balanced, split_by_hash, total_times

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CLOSE = 0.1  # of the mean time of a split: what TETEA's CONSTANTTIME is here, since the thesis gives no figure


class Work(NamedTuple):
    """Tasks in the order in which they came."""

    keys: Keys  # the same for the same task in every round
    estimated: FloatArray  # seconds
    seconds: FloatArray  # actual ones, which only methods that pull tasks can use


Method = Callable[[Work, int], IntArray]


def by_hash(work: Work, splits: int) -> IntArray:
    """Put each task into the split of its hash, regardless of its time."""
    return split_by_hash(work.keys, splits)


def by_tetea(work: Work, splits: int) -> IntArray:
    """Where that hash says of which all splits are estimated to take about as long."""
    return balanced(work.keys, work.estimated, splits, CLOSE * float(work.estimated.sum()) / splits).split


def longest_first(work: Work, splits: int) -> IntArray:
    """The longest task first, each to the split that has least so far: at most 4/3 - 1/(3 splits) of the best makespan.

    References
    ----------
    R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 1969.

    Examples
    --------
    >>> times = np.array([1.0, 2.0, 3.0, 4.0])
    >>> longest_first(Work(np.arange(4, dtype=np.uint64), times, times), 2).tolist()
    [0, 1, 1, 0]
    """
    return _dealt(_by_length(work), work.estimated, splits)


def pulled(work: Work, splits: int) -> IntArray:
    """Each free worker takes the next task in order of arrival."""
    return _dealt(np.arange(len(work.seconds)), work.seconds, splits)


def pulled_longest_first(work: Work, splits: int) -> IntArray:
    """Each free worker takes the task with the longest estimate."""
    return _dealt(_by_length(work), work.seconds, splits)


METHODS: Mapping[str, Method] = {
    "hash": by_hash,
    "tetea": by_tetea,
    "longest_first": longest_first,
    "pull": pulled,
    "pull_longest_first": pulled_longest_first,
}


def split_whole(method: Method, work: Work, groups: Keys, splits: int) -> IntArray:
    """Split work so that all tasks of a group, such as the pages of a host, are in one split.

    Parameters
    ----------
    method : one of METHODS
    work : Work
        Of n tasks.
    groups : array (n,) of uint64
        The key of each task's group.
    splits : int

    Returns
    -------
    array (n,)
        The split of each task, from 0 to ``splits`` - 1.

    Examples
    --------
    >>> times = np.ones(4)
    >>> work = Work(np.arange(4, dtype=np.uint64), times, times)
    >>> split_whole(longest_first, work, np.array([9, 7, 9, 8], dtype=np.uint64), 2).tolist()
    [0, 1, 0, 1]
    """
    whole, place = gathered(work, groups)
    return method(whole, splits)[place]


def gathered(work: Work, groups: Keys) -> tuple[Work, IntArray]:
    """Groups as tasks, in the order in which their first tasks came, and the place of each task's group among them.

    >>> whole, place = gathered(Work(np.uint64([1, 2, 3]), np.ones(3), np.array([4.0, 5.0, 6.0])), np.uint64([9, 7, 9]))
    >>> whole.keys.tolist(), whole.seconds.tolist(), place.tolist()
    ([9, 7], [10.0, 5.0], [0, 1, 0])
    """
    keys, first, sorted_place = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    place = rank[sorted_place]
    estimated, seconds = (total_times(place, each, len(keys)) for each in (work.estimated, work.seconds))
    return Work(keys[order], estimated, seconds), place


def boxed(work: Work, longest: float) -> Work:
    """Cut each task to the longest time in a round; its rest is for the next.

    Parameters
    ----------
    work : Work
    longest : float
        Seconds.
    """
    return Work(work.keys, np.minimum(work.estimated, longest), np.minimum(work.seconds, longest))


def _by_length(work: Work) -> IntArray:
    """Of equal length in the order in which they came."""
    return np.argsort(-work.estimated, kind="stable")


def _dealt(order: IntArray, costs: FloatArray, splits: int) -> IntArray:
    """Each task in its turn to the split with the smallest sum of costs so far; of equal ones the first."""
    sums = [(0.0, split) for split in range(splits)]
    takers = []
    for cost in costs[order].tolist():
        sum_so_far, split = sums[0]
        takers.append(split)
        heapreplace(sums, (sum_so_far + cost, split))
    dealt = np.empty(len(order), dtype=np.int64)
    dealt[order] = takers
    return dealt
