"""How surely two things go together, from four counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def root_likelihood(both: ArrayLike, first: ArrayLike, second: ArrayLike, neither: ArrayLike) -> Floats:
    r"""The signed root of the log-likelihood ratio of two-by-two tables.

    Of each table, twice the logarithm of how much likelier the counts are if the two things depend on each other than
    if they do not; its root is, for larger counts, about the number of standard deviations. Positive where they come
    together more often than by chance.

    Parameters
    ----------
    both, first, second, neither : (...) array_like of float
        How many have both things, the first alone, the second alone, and neither; all >= 0. They are broadcast.

    Returns
    -------
    root : (...) ndarray of float
        0 where one of the things is always or never there.

    Raises
    ------
    ValueError
        If a count is negative.

    References
    ----------
    T. Dunning, "Accurate methods for the statistics of surprise and coincidence", Computational Linguistics 19(1),
    1993.

    Examples
    --------
    Ten of twenty people follow both of two sources, the others neither:

    >>> root_likelihood(10, 0, 0, 10).round(3)
    np.float64(5.266)
    >>> root_likelihood([5, 0], [5, 10], [5, 10], [5, 0]).round(3)
    array([ 0.   , -5.266])
    """
    table = np.broadcast_arrays(*(np.asarray(count, np.float64) for count in (both, first, second, neither)))
    k11, k12, k21, k22 = table
    if any(np.any(count < 0) for count in table):
        raise ValueError("counts must not be negative")
    rows = _entropy(k11 + k12) + _entropy(k21 + k22)
    columns = _entropy(k11 + k21) + _entropy(k12 + k22)
    ratio = 2 * (sum(map(_entropy, table)) - rows - columns + _entropy(k11 + k12 + k21 + k22))
    sign = np.sign(k11 * k22 - k12 * k21)
    return np.asarray(sign * np.sqrt(np.maximum(ratio, 0.0)))


def _entropy(count: Floats) -> Floats:
    """x ln x, 0 at 0."""
    return np.where(count > 0, count * np.log(np.where(count > 0, count, 1.0)), 0.0)
