"""How late, how fresh, how old: the metrics of Sia, Cho and Cho, section 2.

All times are in hours. A posting that appears at the very time of a retrieval is retrieved by it, without delay.
"""

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray


def delays(postings: ArrayLike, retrievals: ArrayLike) -> FloatArray:
    """Hours that each posting waits for the first retrieval not before it; Definition 1.

    Parameters
    ----------
    postings : array (k,), in any order
    retrievals : array (m,), ascending

    Raises
    ------
    ValueError
        If a posting appears after the last retrieval.

    Examples
    --------
    >>> delays([1.0, 2.0, 5.0], retrievals=[2.0, 6.0]).tolist()
    [1.0, 0.0, 1.0]
    """
    postings, retrievals = np.asarray(postings, dtype=np.float64), np.asarray(retrievals, dtype=np.float64)
    following = np.searchsorted(retrievals, postings, side="left")
    if (following == retrievals.size).any():
        raise ValueError("a posting after the last retrieval is never retrieved")
    return np.asarray(retrievals[following] - postings)


def age(postings: ArrayLike, retrievals: ArrayLike, times: ArrayLike) -> FloatArray:
    """A(O; t): hours since the earliest posting not yet retrieved, 0 if there is none.

    Before the first retrieval every posting so far is pending. `postings` and `retrievals` are ascending.

    Examples
    --------
    >>> age([1.0, 2.0], retrievals=[3.0], times=[0.5, 2.5, 3.0, 9.0]).tolist()
    [0.0, 1.5, 0.0, 0.0]
    """
    postings, times = np.asarray(postings, dtype=np.float64), np.asarray(times, dtype=np.float64)
    latest = np.append(-np.inf, retrievals)[np.searchsorted(retrievals, times, side="right")]
    earliest_pending = np.append(postings, np.inf)[np.searchsorted(postings, latest, side="right")]
    return np.asarray(np.maximum(times - earliest_pending, 0.0))


def freshness(postings: ArrayLike, retrievals: ArrayLike, times: ArrayLike) -> FloatArray:
    """F(O; t): 0 while a posting is pending, from its publication on, else 1; `postings`, `retrievals` ascending.

    Examples
    --------
    >>> freshness([1.0, 2.0], retrievals=[3.0], times=[0.5, 1.0, 2.5, 3.0]).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    seen = np.append(0, np.searchsorted(postings, retrievals, side="right"))
    known = seen[np.searchsorted(retrievals, times, side="right")]
    return np.asarray(known == np.searchsorted(postings, times, side="right"), dtype=np.float64)
