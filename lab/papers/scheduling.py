"""From ideal times to a feasible schedule on M parallel processes: CAM, section 5."""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.cam.scheduling import AGEING, urgency


@dataclass(frozen=True)
class Planned:
    """When and by which process each of k jobs is begun."""

    begins: FloatArray  # (k,), s
    processes: IntArray  # (k,), numbers from 0


def schedule(
    releases: ArrayLike,
    durations: ArrayLike,
    weights: ArrayLike,
    processes: int,
    *,
    ageing: float = AGEING,
) -> Planned:
    """Schedule jobs for little waiting: whenever a process is free it takes the most urgent released job.

    Urgency is weight / duration, the weighted shortest processing time first, times 1 + lateness / `ageing`, so that a
    long fetch waits only so long; of equals the earliest released is first. To minimise the sum of completion times
    with release dates is NP-hard even for one process; where all durations and weights are equal, and where all is
    released at once on one process without ageing, this is the optimum.

    Parameters
    ----------
    releases : array (k,), s
        Ideal times; no job begins before its own.
    durations : array (k,), s, > 0
        Expected time of each fetch.
    weights : array (k,), >= 0
        What is lost by lateness: W_i rho_ij.
    processes : int, >= 1
    ageing : float, s; infinite for none

    References
    ----------
    Pandey, Ramamritham, Chakrabarti, WWW 2003, who call the problem flow-shop; with one kind of process it is that of
    identical parallel machines. Smith: Various optimizers for single-stage production, 1956.

    Examples
    --------
    >>> planned = schedule([0, 0, 0, 9], [4, 1, 1, 1], [1, 1, 1, 1], 1)
    >>> planned.begins.tolist()
    [2.0, 0.0, 1.0, 9.0]
    >>> schedule([0, 0, 0], [4, 1, 1], [9, 1, 1], 2).processes.tolist()
    [0, 1, 1]
    """
    release, duration = np.asarray(releases, dtype=np.float64), np.asarray(durations, dtype=np.float64)
    worth = (np.asarray(weights, dtype=np.float64) / duration).tolist()
    if processes < 1:
        raise ValueError(f"jobs need at least 1 process, not {processes}")
    coming = np.argsort(release, kind="stable").tolist()[::-1]
    begins, taken = np.zeros(release.size), np.zeros(release.size, dtype=np.int64)
    free = [(-math.inf, number) for number in range(processes)]
    waiting: list[int] = []
    released = release.tolist()
    at = -math.inf
    while coming or waiting:
        free_at, process = heapq.heappop(free)
        # Never earlier than the latest beginning: a process that has long been free had nothing to begin before.
        at = max(at, free_at) if waiting else max(at, free_at, released[coming[-1]])
        while coming and released[coming[-1]] <= at:
            waiting.append(coming.pop())
        job = waiting.pop(_next_job(waiting, at, released, worth, ageing))
        begins[job], taken[job] = at, process
        heapq.heappush(free, (at + float(duration[job]), process))
    return Planned(begins, taken)


def _next_job(
    waiting: Sequence[int], at: float, releases: Sequence[float], worth: Sequence[float], ageing: float
) -> int:
    """The place of the job to begin; `waiting` is in the order of release."""
    best, greatest = 0, -1.0
    for place, job in enumerate(waiting):
        found = urgency(worth[job], at - releases[job], ageing)
        if found > greatest:
            best, greatest = place, found
    return best
