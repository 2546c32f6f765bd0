"""Times of splits, each done by a separate worker."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

UNUSUAL = 2.0  # times the median of all splits


class Outcome(NamedTuple):
    makespan: float  # seconds until the last split is done
    total: float  # seconds of all splits together
    median: float  # seconds of a split
    unusual: int  # splits that take more than twice the median


def outcome(split: IntArray, seconds: FloatArray, splits: int) -> Outcome:
    """How long splits take.

    Parameters
    ----------
    split : array (n,)
        Of each task, from 0 to ``splits`` - 1.
    seconds : array (n,)
        That each task takes.
    splits : int
        One with nothing to do counts, too.

    Examples
    --------
    >>> outcome(np.array([0, 1, 2, 2]), np.array([1.0, 2.0, 3.0, 2.0]), 3)
    Outcome(makespan=5.0, total=8.0, median=2.0, unusual=1)
    """
    times = np.bincount(split, weights=seconds, minlength=splits)
    median = float(np.median(times))
    return Outcome(float(times.max()), float(times.sum()), median, int(np.sum(times > UNUSUAL * median)))


def lower_bound(seconds: FloatArray, splits: int) -> float:
    """No method finishes earlier than the longest task, or than the mean of all splits.

    >>> lower_bound(np.array([1.0, 2.0, 3.0]), 2), lower_bound(np.array([1.0, 2.0, 5.0]), 2)
    (3.0, 5.0)
    """
    return max(float(seconds.max(initial=0.0)), float(seconds.sum()) / splits)
