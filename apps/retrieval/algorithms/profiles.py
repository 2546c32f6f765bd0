"""Expected postings through a day or a week: the periodic posting rate of Sia, Cho and Cho, section 3.1."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray


@dataclass(frozen=True)
class Profile:
    """A posting rate that repeats: lambda(t) = lambda(t - period), constant within each of n equal bins.

    Parameters
    ----------
    rates : array (n,) of finite numbers >= 0
        Postings per hour in each bin of the period.
    period : float
        Hours; the first bin begins at every multiple of it on the axis of `calendar`.

    Raises
    ------
    ValueError
        If there is no bin, a rate is negative or not finite, or the period is not positive.

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> round(office.total, 6), float(office.rate(12.5)), round(float(office.expected(18.0) - office.expected(8.0)), 6)
    (11.4, 1.0, 10.0)
    """

    rates: FloatArray
    period: float = 168.0

    def __post_init__(self) -> None:
        rates = np.asarray(self.rates, dtype=np.float64)
        if rates.ndim != 1 or rates.size == 0:
            raise ValueError(f"a profile needs a row of rates, not an array of shape {rates.shape}")
        if not (np.isfinite(rates).all() and (rates >= 0).all()):
            raise ValueError("a rate must be a finite number, not negative")
        if not self.period > 0:
            raise ValueError(f"the period must be positive, not {self.period}")
        object.__setattr__(self, "rates", rates)

    @property
    def bin_hours(self) -> float:
        return self.period / self.rates.size

    @cached_property
    def edges(self) -> FloatArray:
        """Bin edges in [0, period], shape (n + 1,)."""
        return np.linspace(0.0, self.period, self.rates.size + 1)

    @cached_property
    def cumulated(self) -> FloatArray:
        """Postings expected from the start of the period to each edge, shape (n + 1,)."""
        return np.concatenate(([0.0], np.cumsum(self.rates * self.bin_hours)))

    @property
    def total(self) -> float:
        """Postings expected in a period."""
        return float(self.cumulated[-1])

    def rate(self, times: ArrayLike) -> Any:
        """Postings per hour at times on the axis of `calendar`; at an edge that of the bin that begins."""
        bins = (np.mod(np.asarray(times, dtype=np.float64), self.period) / self.bin_hours).astype(np.int64)
        return self.rates[np.minimum(bins, self.rates.size - 1)]

    def expected(self, times: ArrayLike) -> Any:
        """L(t): postings expected since time 0. Differences of it are expected counts of intervals."""
        periods, phase = np.divmod(np.asarray(times, dtype=np.float64), self.period)
        return periods * self.total + np.interp(phase, self.edges, self.cumulated)
