"""Yioop's score as a baseline: without a background or sources, phrases weighted by length."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

MAX_KEPT = 50  # terms per row


def item_scores(
    joints: NDArray[np.int64], occurrences: NDArray[np.int64], ages: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The contribution of items to the scores of terms: hyphens times occurrences, divided by hours of age.

    Yioop first joins the words of a phrase by hyphens, so that single words score 0.

    Parameters
    ----------
    joints : (n,) ndarray of int
        Hyphens of the joined term: words less one, and hyphens inside words.
    occurrences : (n,) ndarray of int
        Of the term in the item's title and description.
    ages : (n,) ndarray of float
        Hours since the item was published; like in Yioop, items older than 24 hours are not counted.

    References
    ----------
    Yioop 6.0.4 and a fork of April 2021, reimplemented; phrases are those of `terms_of`, not Wikipedia's titles.

    Examples
    --------
    >>> item_scores(np.array([0, 1, 2, 1]), np.array([9, 2, 2, 1]), np.array([0.1, 0.1, 1.5, 30.0])).tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    weights = np.maximum(np.ceil(ages), 1.0)
    scores: NDArray[np.float64] = np.where(ages <= 24.0, joints * occurrences / weights, 0.0)
    return scores


def row(scores: Mapping[int, float]) -> dict[int, float]:
    """The best 50 terms of an hour, or of summed rows; of equal ones the smaller number.

    >>> row({7: 1.0, 3: 0.0, 5: 2.0})
    {5: 2.0, 7: 1.0}
    """
    best = sorted((item for item in scores.items() if item[1] > 0), key=lambda item: (-item[1], item[0]))
    return dict(best[:MAX_KEPT])


def rolled_up(rows: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Sums of rows and the best 50: a day of its hours, a week of its days, a month of its weeks, a year of its months.

    >>> rolled_up([{1: 2.0, 2: 1.0}, {2: 4.0}])
    {2: 5.0, 1: 2.0}
    """
    sums: dict[int, float] = {}
    for each in rows:
        for term, score in each.items():
            sums[term] = sums.get(term, 0.0) + score
    return row(sums)
