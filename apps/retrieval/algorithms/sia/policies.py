"""The policies that Sia, Cho and Cho compare, section 4: from what was learned to a timetable for each source.

All are a `Rule` and called as `rule(learned, per_day, *, random, weights, least, most)`:

learned : Learned, of n sources
per_day : float
    Retrievals per day, averaged over all sources; clipped to the bounds.
random : Generator
    For the phases. Compare two budgets with the same seed.
weights : array (n,), optional
    Importance of each source, for policies that use it.
least, most : numbers or arrays (n,)
    Bounds of each source's retrievals per day.

They return one `Timetable` per source.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.exact import optimal_times
from apps.retrieval.algorithms.sia.allocation import (
    allocate,
    proportional_shares,
    square_root_allocation,
    whole_retrievals,
)
from apps.retrieval.algorithms.sia.learning import Learned, Solver
from apps.retrieval.algorithms.timetables import Timetable

MIN_PER_DAY, MAX_PER_DAY = 1 / 7, 288.0  # retrievals: once a week, every five minutes
DAYS = 28  # in which a real frequency becomes whole retrievals


Frequencies = Callable[[Learned, float, ArrayLike, ArrayLike, ArrayLike], FloatArray]
Placement = Callable[[Learned, FloatArray, np.random.Generator], list[Timetable]]


@dataclass(frozen=True)
class Rule:
    """How often each source is retrieved, and when.

    `frequencies` shares out a number of retrievals a day among the sources: `(learned, total, weights, least, most)`;
    `placement` makes them timetables.
    """

    frequencies: Frequencies
    placement: Placement

    def __call__(
        self,
        learned: Learned,
        per_day: float,
        *,
        random: np.random.Generator,
        weights: ArrayLike = 1.0,
        least: ArrayLike = MIN_PER_DAY,
        most: ArrayLike = MAX_PER_DAY,
    ) -> list[Timetable]:
        total = float(np.clip(per_day, np.asarray(least, float).mean(), np.asarray(most, float).mean())) * len(learned)
        return self.placement(learned, self.frequencies(learned, total, weights, least, most), random)


def equal(learned: Learned, total: float, weights: ArrayLike, least: ArrayLike, most: ArrayLike) -> FloatArray:
    """The same number of retrievals for every source whose bounds allow it."""
    share = np.full(len(learned), total / len(learned))
    if np.all(np.asarray(least) <= share) and np.all(share <= np.asarray(most)):
        return share
    return allocate(np.ones(len(learned)), total, least, most, proportional_shares)


def square_root(learned: Learned, total: float, weights: ArrayLike, least: ArrayLike, most: ArrayLike) -> FloatArray:
    """Retrievals in proportion to the square root of weight times rate."""
    return square_root_allocation(learned.rates, total, weights=weights, least=least, most=most)


def evenly_spaced(learned: Learned, frequencies: FloatArray, random: np.random.Generator) -> list[Timetable]:
    """Timetables with these retrievals per day, array (n,), each with a random phase."""
    gaps = DAY / frequencies
    phases = random.random(gaps.size) * gaps
    return [Timetable(np.array([phase]), gap) for phase, gap in zip(phases.tolist(), gaps.tolist(), strict=True)]


def well_timed(
    learned: Learned, frequencies: FloatArray, random: np.random.Generator, *, solver: Solver = optimal_times
) -> list[Timetable]:
    """Timetables with these retrievals per day, array (n,), at the solver's times for each source's pattern.

    A whole number repeats daily. Otherwise each of 28 days gets it rounded up or down and that number's own schedule;
    a source retrieved less than daily is retrieved at its best single time on some days. The days' phases are random.
    """
    phases = random.random(frequencies.size)
    return [
        _well_timed(partial(learned.schedule, source, solver=solver), frequency, phase)
        for source, (frequency, phase) in enumerate(zip(frequencies.tolist(), phases.tolist(), strict=True))
    ]


def _well_timed(schedule: Callable[[int], FloatArray], frequency: float, phase: float) -> Timetable:
    if frequency.is_integer():
        return Timetable(schedule(int(frequency)), DAY)
    counts = whole_retrievals(frequency, DAYS, phase=phase)
    days = [day * DAY + schedule(count) for day, count in enumerate(counts.tolist()) if count]
    return Timetable(np.concatenate(days), DAYS * DAY)


uniform = Rule(equal, evenly_spaced)
retrieval_scheduling = Rule(equal, well_timed)
resource_allocation = Rule(square_root, evenly_spaced)
combined = Rule(square_root, well_timed)
