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


# --- growth -----------------------------------------------------------------------------------------------------------
RISING = 1.645  # about one source in twenty rises so much by chance
MIN_GAINED = 3  # followers, or readers more than before


def growth(
    followed: ArrayLike, followed_before: ArrayLike, opened: ArrayLike, opened_before: ArrayLike
) -> NDArray[np.float64]:
    """How surely sources grow more than the portal does.

    Of new followers and of readers each, the signed root of the log-likelihood ratio of the source's share, recent and
    before; both together by Stouffer's method, which gives the sum of two independent ones the spread of one.

    Parameters
    ----------
    followed, followed_before, opened, opened_before : (n_sources,) array_like of int
        People who began to follow each source, and who opened one of its postings, recently and in as long a time
        before.

    Returns
    -------
    growth : (n_sources,) ndarray of float
        0 for sources with too few people to say, and where nothing was before to compare with.

    References
    ----------
    T. Dunning, "Accurate methods for the statistics of surprise and coincidence", Computational Linguistics 19(1),
    1993; S. Stouffer et al., "The American Soldier", 1949.

    Examples
    --------
    >>> growth([30, 10], [10, 10], [10, 10], [10, 10]).round(2).tolist()
    [1.35, -1.35]
    """
    follows, follows_before, reads, reads_before = (
        np.asarray(people, np.float64) for people in (followed, followed_before, opened, opened_before)
    )
    together = _share(follows, follows_before) + _share(reads, reads_before)
    enough = (follows >= MIN_GAINED) | (reads - reads_before >= MIN_GAINED)
    return np.where(enough | (together < 0), together / np.sqrt(2), 0.0)


def _share(recent: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    return root_likelihood(recent, before, recent.sum() - recent, before.sum() - before)
