"""A simulated month of many sources: due times by the planner, messages by beat, lateness of workers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.planner.lookahead import Outlook, next_gaps

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BEFORE = 7 * 24.0  # hours played first and left out: all sources begin at once
MONTH = 30 * 24.0  # hours
SECONDS = int(MONTH * 3_600)
ZONES = np.arange(-8, 10)  # hours
JITTER = 300.0  # s, at most: no two sources have the very same profile, but many publish at the same minute
COPIED_AT_ONCE = 16  # sources


def played(outlook: Outlook) -> Iterator[FloatArray]:
    """The planned retrievals of each source in a month, in hours from its beginning."""
    start, now = outlook.now, outlook.now.copy()
    running = np.arange(now.size)
    made: list[tuple[IntArray, FloatArray]] = []
    while running.size:
        now[running] += next_gaps(outlook.at(running, now[running]))
        running = running[now[running] < start[running] + BEFORE + MONTH]
        made.append((running, now[running] - start[running] - BEFORE))
    sources, times = (np.concatenate(parts) for parts in zip(*made, strict=True))
    order = np.argsort(sources, kind="stable")
    bounds = np.searchsorted(sources[order], np.arange(now.size + 1))
    for begin, end in pairwise(bounds.tolist()):
        own = times[order[begin:end]]
        yield own[own >= 0]


def due_each_second(plans: Iterable[FloatArray], copies: int, random: np.random.Generator) -> IntArray:
    """The number of sources due in each second of a month, each plan being used by `copies` sources.

    Copies are shifted by time zones and some minutes; the month is cyclic.

    Parameters
    ----------
    plans : iterable of arrays
        Hours from the beginning of the month.
    """
    due = np.zeros(SECONDS, np.int64)
    waiting: list[IntArray] = []
    for plan in plans:
        shifts = 3_600.0 * random.choice(ZONES, copies) + random.uniform(-JITTER, JITTER, copies)
        waiting.append(((3_600 * plan[:, None] + shifts) % SECONDS).astype(np.int64).ravel())
        if len(waiting) == COPIED_AT_ONCE:
            due += np.bincount(np.concatenate(waiting), minlength=SECONDS)[:SECONDS]
            waiting.clear()
    if waiting:
        due += np.bincount(np.concatenate(waiting), minlength=SECONDS)[:SECONDS]
    return due


@dataclass(frozen=True, slots=True)
class Lateness:
    """How long sources wait, s."""

    p50: float
    p99: float
    longest: float


def lateness(due: IntArray, per_second: float) -> Lateness:
    """The lateness of sources served at a steady rate in the order of their due times.

    >>> lateness(np.array([4, 0, 0, 0]), 2.0)
    Lateness(p50=1.0, p99=2.0, longest=2.0)
    """
    served = due - per_second
    sums = np.cumsum(served)
    behind = sums - np.minimum.accumulate(np.minimum(sums, 0))  # Lindley: left over at the end of each second
    before = np.concatenate([[0.0], behind[:-1]])
    times = due.nonzero()[0]
    if not times.size:
        return Lateness(0.0, 0.0, 0.0)
    # Those of one second wait for the former ones, and half of them for their own first half.
    waits = np.concatenate([before[times] + due[times] / 2, before[times] + due[times]]) / per_second
    order = np.argsort(waits)
    served_until = np.cumsum(np.tile(due[times], 2)[order])
    median, late = np.searchsorted(served_until, [0.5 * served_until[-1], 0.99 * served_until[-1]])
    return Lateness(float(waits[order[median]]), float(waits[order[late]]), float(waits[order[-1]]))


def least_cores(due: IntArray, ms: float, *, within: float) -> int:
    """The fewest cores for a 99th percentile of lateness `within` seconds, at `ms` per retrieval."""
    cores = 1
    while lateness(due, cores * 1_000 / ms).p99 > within:
        cores += 1
    return cores


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What beat did in an hour."""

    sources: int
    messages: int


def dispatched(
    due: IntArray, cut: Callable[[IntArray], int], random: np.random.Generator, partitions: int
) -> Dispatched:
    """Simulate an hour of beat: each second it claims due sources and divides them into messages.

    Parameters
    ----------
    due : array
        Sources due in each second of the hour.
    cut : callable
        Given the partitions of sources that are claimed together, how many messages they become.
    """
    messages = sum(cut(random.integers(0, partitions, count)) for count in due.tolist() if count)
    return Dispatched(int(due.sum()), messages)
