"""One hash of things for all algorithms here: the same in every process, and another one for each salt."""

import numpy as np
from numpy.typing import NDArray

from apps.jobs.algorithms.estimates import Keys

_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def hashed(keys: Keys, salt: int = 0) -> Keys:
    """Mix the bits of keys so that neighbours lie far apart: SplitMix64.

    Parameters
    ----------
    keys : array (n,) of uint64
    salt : int
        Each gives another hash.

    Returns
    -------
    array (n,) of uint64

    References
    ----------
    G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    Examples
    --------
    >>> hashed(np.array([0], dtype=np.uint64)).tolist() == [0xE220A8397B1DCDAF]  # as published for seed 0
    True
    """
    mixed = keys + np.uint64((salt + 1) * _STEP % 2**64)
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed


def combined(keys: Keys, others: Keys) -> Keys:
    """A key for each pair.

    >>> pairs = combined(np.uint64([1, 1, 2]), np.uint64([1, 2, 1]))
    >>> len(np.unique(pairs))
    3
    """
    return hashed(hashed(keys) + others)


def modulo(keys: Keys, buckets: int, salt: int = 0) -> NDArray[np.int64]:
    """``hash mod buckets`` of each key."""
    return (hashed(keys, salt) % np.uint64(buckets)).astype(np.int64)
