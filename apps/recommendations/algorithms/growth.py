"""Sources that rise: followed and read more than before, beside all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.recommendations.algorithms.likelihood import root_likelihood

RISING = 1.645  # about one source in twenty rises so much by chance
MIN_GAINED = 3  # followers, or readers more than before


@dataclass(frozen=True, slots=True)
class Period:
    """What happened to each source within the same time.

    followed, opened : (n_sources,) array_like of int
        People who began to follow it, and who opened one of its postings.
    """

    followed: ArrayLike
    opened: ArrayLike


def growth(recent: Period, before: Period) -> NDArray[np.float64]:
    """How surely sources grow more than the portal does.

    Of new followers and of readers each, the signed root of the log-likelihood ratio of the source's share, recent and
    before; both together by Stouffer's method, which gives the sum of two independent ones the spread of one.

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
    >>> growth(Period([30, 10], [10, 10]), Period([10, 10], [10, 10])).round(2).tolist()
    [1.35, -1.35]
    """
    followed, followed_before = (np.asarray(period.followed, np.float64) for period in (recent, before))
    opened, opened_before = (np.asarray(period.opened, np.float64) for period in (recent, before))
    together = _share(followed, followed_before) + _share(opened, opened_before)
    enough = (followed >= MIN_GAINED) | (opened - opened_before >= MIN_GAINED)
    return np.where(enough | (together < 0), together / np.sqrt(2), 0.0)


def _share(recent: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    return root_likelihood(recent, before, recent.sum() - recent, before.sum() - before)
