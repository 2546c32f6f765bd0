"""Publication times of many sources, kept so that one search serves all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Trace:
    """The postings of n sources.

    Parameters
    ----------
    names : sequence of str, length n
    times : array (sum of all postings,)
        Publication times in hours on the axis of `calendar`: those of source 0 in ascending order, then source 1...
    starts : array (n + 1,) of int
        Source i's postings are `times[starts[i]:starts[i + 1]]`.

    Examples
    --------
    >>> trace = Trace.of(["a", "b"], [[1.0, 5.0], [2.0]])
    >>> [part.tolist() for part in trace.window(2.0, 6.0).parts]
    [[5.0], [2.0]]
    """

    names: Sequence[str]
    times: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, names: Sequence[str], parts: Sequence[ArrayLike]) -> "Trace":
        """From one sequence of times per source, in any order."""
        arrays = [np.sort(np.asarray(part, dtype=np.float64)) for part in parts]
        starts = np.concatenate(([0], np.cumsum([len(part) for part in arrays], dtype=np.int64)))
        return cls(names, np.concatenate(arrays) if arrays else np.empty(0), starts.astype(np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def parts(self) -> list[FloatArray]:
        """Each source's times."""
        return [self.times[start:end] for start, end in zip(self.starts[:-1], self.starts[1:], strict=True)]

    @cached_property
    def counts(self) -> IntArray:
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> IntArray:
        """The number of the source of each posting, shape of `times`."""
        return np.repeat(np.arange(len(self)), self.counts)

    def window(self, start: float, end: float) -> "Trace":
        """The postings in [start, end) of the same sources."""
        inside = (self.times >= start) & (self.times < end)
        counts = np.bincount(self.owners[inside], minlength=len(self))
        return Trace(self.names, self.times[inside], np.concatenate(([0], np.cumsum(counts))).astype(np.int64))

    def select(self, numbers: Sequence[int]) -> "Trace":
        """The sources with these numbers only."""
        return Trace.of([self.names[i] for i in numbers], [self.parts[i] for i in numbers])
