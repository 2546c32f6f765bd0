"""How late fetches begin on M processes, by the order in which those that wait are taken."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.cam.scheduling import AGEING
from lab.papers.scheduling import schedule

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Jobs:
    """k fetches; arrays of shape (k,)."""

    releases: FloatArray  # s
    durations: FloatArray  # s
    weights: FloatArray


@dataclass(frozen=True)
class Lateness:
    """From the due time until the fetch begins, in seconds."""

    mean: float  # by weight
    longest: float


def made_up_jobs(count: int, load: float, processes: int, random: np.random.Generator) -> Jobs:
    """Fetches of 0.6 s on average, some far longer, spread over as much time as keeps the processes at this load.

    >>> jobs = made_up_jobs(1000, 0.5, 4, np.random.default_rng(0))
    >>> float((jobs.durations.sum() / (4 * jobs.releases.max())).round(2))
    0.5
    """
    durations = np.exp(random.normal(-1.0, 1.0, count))
    releases = np.sort(random.random(count)) * durations.sum() / (processes * load)
    return Jobs(releases, durations, np.exp(random.normal(0.0, 1.2, count)))


def lateness(jobs: Jobs, processes: int) -> Mapping[str, Lateness]:
    """By the order: the earliest first, the shortest first, and the most urgent first without and with ageing."""
    orders = {
        "earliest": (jobs.durations, AGEING),
        "shortest": (np.ones(jobs.durations.size), np.inf),
        "weighted": (jobs.weights, np.inf),
        "weighted_ageing": (jobs.weights, AGEING),
    }
    found = {}
    for name, (weights, ageing) in orders.items():
        late = schedule(jobs.releases, jobs.durations, weights, processes, ageing=ageing).begins - jobs.releases
        found[name] = Lateness(float(np.average(late, weights=jobs.weights)), float(late.max()))
    return found
