"""Trending words as Yioop has them, to compare with: no habit, no sources, phrases by their length."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

MAX_KEPT = 50  # terms of a row


def item_scores(
    joints: NDArray[np.int64], occurrences: NDArray[np.int64], ages: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What occurrences of terms in items add to the terms' scores: hyphens times occurrences, by hours of age.

    Yioop joins the words of a phrase by hyphens first, so that single words are worth nothing.

    Parameters
    ----------
    joints : (n,) ndarray of int
        Hyphens of the joined term: words less one, and hyphens inside words.
    occurrences : (n,) ndarray of int
        Times that the term is in the item's title and description.
    ages : (n,) ndarray of float
        Hours since the item was published. What is older than 24 hours is not counted by Yioop; nor is it here.

    References
    ----------
    Yioop 6.0.4 and a fork of April 2021, re-told; phrases are those of `terms_of`, not Wikipedia's titles.

    Examples
    --------
    >>> item_scores(np.array([0, 1, 2, 1]), np.array([9, 2, 2, 1]), np.array([0.1, 0.1, 1.5, 30.0])).tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    weights = np.maximum(np.ceil(ages), 1.0)
    scores: NDArray[np.float64] = np.where(ages <= 24.0, joints * occurrences / weights, 0.0)
    return scores


def row(scores: Mapping[int, float]) -> dict[int, float]:
    """The best 50 of an hour, or of what rows of shorter times were summed to; first in numbers among equals.

    >>> row({7: 1.0, 3: 0.0, 5: 2.0})
    {5: 2.0, 7: 1.0}
    """
    best = sorted((item for item in scores.items() if item[1] > 0), key=lambda item: (-item[1], item[0]))
    return dict(best[:MAX_KEPT])


def rolled_up(rows: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """A day of its hours, a week of its days, a month of its weeks, a year of its months: sums, and the best 50.

    >>> rolled_up([{1: 2.0, 2: 1.0}, {2: 4.0}])
    {2: 5.0, 1: 2.0}
    """
    sums: dict[int, float] = {}
    for each in rows:
        for term, score in each.items():
            sums[term] = sums.get(term, 0.0) + score
    return row(sums)
