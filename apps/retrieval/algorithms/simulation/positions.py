"""Postings of a trace counted between any times, for many sources at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.traces import Trace


@dataclass(frozen=True)
class Positions:
    """
    >>> trace = Trace.of(["a", "b"], [[1.0, 5.0], [2.0]])
    >>> Positions(trace).count(np.array([0, 0, 1]), np.array([0.0, 1.0, 0.0]), np.array([5.0, 5.0, 1.5])).tolist()
    [2, 1, 0]
    """

    trace: Trace

    @cached_property
    def _origin(self) -> float:
        return float(self.trace.times.min()) if self.trace.times.size else 0.0

    @cached_property
    def _stretch(self) -> float:
        return float(self.trace.times.max() - self._origin) + 2.0 if self.trace.times.size else 2.0

    @cached_property
    def _keys(self) -> FloatArray:
        # One ascending axis for all sources: each has a stretch of its own on it.
        return np.asarray(self.trace.times - self._origin + self.trace.owners * self._stretch)

    def position(self, sources: ArrayLike, until: ArrayLike) -> IntArray:
        """Index in `times` behind the last posting of each source not later than its time `until`."""
        sources = np.asarray(sources)
        inside = np.clip(np.asarray(until, dtype=np.float64) - self._origin, -1.0, self._stretch - 1.0)
        return np.searchsorted(self._keys, sources * self._stretch + inside, side="right")

    def count(self, sources: ArrayLike, after: ArrayLike, until: ArrayLike) -> IntArray:
        """Postings of each source in (after, until]."""
        return self.position(sources, until) - self.position(sources, after)
