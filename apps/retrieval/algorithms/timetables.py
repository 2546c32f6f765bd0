"""Retrieval times that repeat: the plan of every policy that does not react to the result of a retrieval."""

from dataclasses import dataclass

import numpy as np

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
    >>> twice.between(5.0, 31.0).tolist(), twice.per_day
    ([6.0, 18.0, 30.0], 2.0)
    """

    times: FloatArray
    period: float

    @property
    def per_day(self) -> float:
        """Retrievals a day."""
        return self.times.size * 24.0 / self.period

    def spaced(self, least: float, longest: float) -> "Timetable":
        """The same number of times, later where they would be nearer to each other than `least` hours.

        Where the longest gap exceeds `longest` hours, all are drawn to equal ones, no further than that needs.

        >>> Timetable(np.array([1.0, 1.5, 20.0, 23.8]), period=24.0).spaced(2.0, 24.0).times.round(3).tolist()
        [1.8, 3.8, 20.0, 23.8]
        >>> Timetable(np.array([6.0, 8.0, 10.0]), period=24.0).spaced(1.0, 9.0).times.round(3).tolist()
        [0.5, 8.0, 15.5]
        """
        count, even = self.times.size, self.period / self.times.size
        steps = min(least, even) * np.arange(2 * count)
        twice = np.concatenate((self.times - self.period, self.times))
        times = (np.maximum.accumulate(twice - steps) + steps)[count:]
        gaps = np.diff(times, append=times[:1] + self.period)
        if (widest := float(gaps.max())) > max(longest, even):
            gaps += (widest - max(longest, even)) / (widest - even) * (even - gaps)
            moved = np.cumsum(gaps) - gaps
            times = moved + (times - moved).mean()
        # The first remainder of -1e-16 is the period itself.
        return Timetable(np.sort(times % self.period % self.period), self.period)

    def between(self, start: float, end: float) -> FloatArray:
        """All retrieval times in [start, end)."""
        periods = np.arange(np.floor(start / self.period) - 1, np.ceil(end / self.period) + 1)
        times = (periods[:, None] * self.period + self.times).ravel()
        return np.asarray(times[(times >= start) & (times < end)])
