"""Instants that repeat: the form that every policy's plan takes which does not react to what retrievals bring."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Timetable:
    """Retrievals of one source at `instants + k * period` for every whole k.

    Parameters
    ----------
    instants : array (m,), sorted, in [0, period)
        Hours on the axis of `calendar`, modulo the period.
    period : float
        Hours.

    Examples
    --------
    >>> twice = Timetable(np.array([6.0, 18.0]), period=24.0)
    >>> twice.after(np.array([0.0, 6.0, 30.5])).tolist()
    [6.0, 18.0, 42.0]
    >>> twice.between(5.0, 31.0).tolist(), twice.per_day
    ([6.0, 18.0, 30.0], 2.0)
    """

    instants: FloatArray
    period: float

    @classmethod
    def even(cls, gap: float, phase: float) -> "Timetable":
        """One retrieval every `gap` hours, the first `phase` of a gap after instant 0 (phase in [0, 1))."""
        return cls(np.array([phase * gap]), gap)

    @property
    def per_day(self) -> float:
        """Retrievals a day."""
        return self.instants.size * 24.0 / self.period

    def after(self, now: ArrayLike) -> FloatArray:
        """The first instant later than each of `now`."""
        now = np.asarray(now, dtype=np.float64)
        periods, phase = np.divmod(now, self.period)
        position = np.searchsorted(self.instants, phase, side="right")
        following = np.append(self.instants, self.instants[0] + self.period)[position]
        return np.asarray(periods * self.period + following)

    def at_or_after(self, moments: ArrayLike) -> FloatArray:
        """The first instant not before each of `moments`: when a posting of that moment is retrieved."""
        moments = np.asarray(moments, dtype=np.float64)
        periods, phase = np.divmod(moments, self.period)
        position = np.searchsorted(self.instants, phase, side="left")
        following = np.append(self.instants, self.instants[0] + self.period)[position]
        return np.asarray(periods * self.period + following)

    def between(self, start: float, end: float) -> FloatArray:
        """All instants in [start, end)."""
        periods = np.arange(np.floor(start / self.period) - 1, np.ceil(end / self.period) + 1)
        instants = (periods[:, None] * self.period + self.instants).ravel()
        return np.asarray(instants[(instants >= start) & (instants < end)])
