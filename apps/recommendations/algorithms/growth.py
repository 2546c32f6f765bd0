"""Sources that rise: followed and read more than before, beside all others."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.recommendations.algorithms.likelihood import root_likelihood

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
