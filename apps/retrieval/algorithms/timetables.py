"""Retrieval times that repeat: the plan of every policy that does not react to the result of a retrieval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray


@dataclass(frozen=True)
class Timetable:
    """Retrievals of one source at `times + k * period` for every whole k.

    Parameters
    ----------
    times : array (m,), sorted, in [0, period)
        Hours on the axis of `calendar`, modulo the period.
    period : float
        Hours.

    Examples
    --------
    >>> twice = Timetable(np.array([6.0, 18.0]), period=24.0)
    >>> twice.at_or_after(np.array([0.0, 6.0, 30.5])).tolist()
    [6.0, 6.0, 42.0]
    >>> twice.between(5.0, 31.0).tolist(), twice.per_day
    ([6.0, 18.0, 30.0], 2.0)
    """

    times: FloatArray
    period: float

    @property
    def per_day(self) -> float:
        """Retrievals a day."""
        return self.times.size * 24.0 / self.period

    def at_or_after(self, moments: ArrayLike) -> FloatArray:
        """The first retrieval not before each of `moments`, which is that of a posting published then."""
        moments = np.asarray(moments, dtype=np.float64)
        periods, phase = np.divmod(moments, self.period)
        position = np.searchsorted(self.times, phase, side="left")
        following = np.append(self.times, self.times[0] + self.period)[position]
        return np.asarray(periods * self.period + following)

    def between(self, start: float, end: float) -> FloatArray:
        """All retrieval times in [start, end)."""
        periods = np.arange(np.floor(start / self.period) - 1, np.ceil(end / self.period) + 1)
        times = (periods[:, None] * self.period + self.times).ravel()
        return np.asarray(times[(times >= start) & (times < end)])
