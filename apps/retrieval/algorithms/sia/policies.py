"""The policies that Sia, Cho and Cho compare, section 4: from what was learnt to a timetable for each source.

All have one form, `policy(learned, per_day, *, random, weights, least, most)`:

learned : Learned, of n sources
per_day : float
    Retrievals per day, averaged over all sources; brought within the bounds.
random : Generator
    For the phases. Two budgets are best compared with the same seed.
weights : array (n,), optional
    Importance of each source, where the policy asks for it.
least, most : float
    Bounds of each source's retrievals per day.

They return one `Timetable` per source.
"""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.sia.allocation import square_root_allocation, whole_retrievals
from apps.retrieval.algorithms.sia.learning import Learned
from apps.retrieval.algorithms.timetables import Timetable

FloatArray = NDArray[np.float64]

LEAST, MOST = 1 / 7, 288.0  # retrievals per day: once a week, every five minutes
DAYS = 28  # in which a real frequency becomes whole retrievals


class Policy(Protocol):
    """What all policies of the paper, and those it is compared with, look like."""

    def __call__(
        self,
        learned: Learned,
        per_day: float,
        *,
        random: np.random.Generator,
        weights: ArrayLike | None = None,
        least: float = LEAST,
        most: float = MOST,
    ) -> list[Timetable]: ...


def uniform(
    learned: Learned,
    per_day: float,
    *,
    random: np.random.Generator,
    weights: ArrayLike | None = None,
    least: float = LEAST,
    most: float = MOST,
) -> list[Timetable]:
    """The same number of retrievals for every source, evenly spaced."""
    return evenly_spaced(np.full(len(learned), np.clip(per_day, least, most)), random)


def retrieval_scheduling(
    learned: Learned,
    per_day: float,
    *,
    random: np.random.Generator,
    weights: ArrayLike | None = None,
    least: float = LEAST,
    most: float = MOST,
) -> list[Timetable]:
    """The same number of retrievals for every source, at the best instants for its pattern."""
    return well_timed(learned, np.full(len(learned), np.clip(per_day, least, most)), random)


def resource_allocation(
    learned: Learned,
    per_day: float,
    *,
    random: np.random.Generator,
    weights: ArrayLike | None = None,
    least: float = LEAST,
    most: float = MOST,
) -> list[Timetable]:
    """Retrievals in proportion to the square root of weight times rate, evenly spaced."""
    return evenly_spaced(_square_root_frequencies(learned, per_day, weights, least, most), random)


def combined(
    learned: Learned,
    per_day: float,
    *,
    random: np.random.Generator,
    weights: ArrayLike | None = None,
    least: float = LEAST,
    most: float = MOST,
) -> list[Timetable]:
    """Retrievals in proportion to the square root of weight times rate, at the best instants for each pattern."""
    return well_timed(learned, _square_root_frequencies(learned, per_day, weights, least, most), random)


def _square_root_frequencies(
    learned: Learned, per_day: float, weights: ArrayLike | None, least: float, most: float
) -> FloatArray:
    return square_root_allocation(
        learned.rates,
        float(np.clip(per_day, least, most)) * len(learned),
        weights=1.0 if weights is None else weights,
        least=least,
        most=most,
    )


def evenly_spaced(frequencies: FloatArray, random: np.random.Generator) -> list[Timetable]:
    """Timetables with these retrievals per day, array (n,), each with a random phase."""
    phases = random.random(frequencies.size)
    return [Timetable.even(DAY / frequency, phase) for frequency, phase in zip(frequencies, phases, strict=True)]


def well_timed(learned: Learned, frequencies: FloatArray, random: np.random.Generator) -> list[Timetable]:
    """Timetables with these retrievals per day, array (n,), at the best instants for each source's pattern.

    A whole number repeats daily. Otherwise each of 28 days gets it rounded up or down and that number's own schedule;
    a source asked less than daily is asked at its best single instant on some days. The days' phases are random.
    """
    phases = random.random(frequencies.size)
    return [
        _well_timed(learned, source, frequency, phase)
        for source, (frequency, phase) in enumerate(zip(frequencies.tolist(), phases.tolist(), strict=True))
    ]


def _well_timed(learned: Learned, source: int, frequency: float, phase: float) -> Timetable:
    if frequency.is_integer():
        return Timetable(learned.schedule(source, int(frequency)), DAY)
    counts = whole_retrievals(frequency, DAYS, phase=phase)
    days = [day * DAY + learned.schedule(source, count) for day, count in enumerate(counts.tolist()) if count]
    return Timetable(np.concatenate(days), DAYS * DAY)
