"""Whether a posting agrees with single reports of a story; how much is demanded follows the number of stories.

Of many unrelated stories the most similar one is more similar than of few, as a maximum grows with their number.
Figures were chosen with labelled sets of some hundred stories, and with recorded days of several thousand.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import Weights
from apps.stories.algorithms.reports import Report

HALF_LIFE = 48.0  # hours, of the fading part of similarity
FADING = 0.85  # share of similarity that fades

ABUNDANT = 1_500  # active stories, at which half of the next two apply
CHANCE_AMONG_MANY = 0.085  # least similarity that is due to chance among very many stories
NEAREST_AMONG_MANY = 0.15  # added to the similarity that a report must have among very many stories
MANY = 0.5  # abundance from which a subject in common, as a person's name, is not enough
SUBJECT = 2  # terms
BESIDE_AMONG_MANY = 0.15  # similarity to a report beside its subject, among very many stories


def abundance(stories: int) -> float:
    """From 0 for some hundred active stories to 1 for many thousands.

    >>> [round(abundance(stories), 2) for stories in (300, 1_500, 6_000)]
    [0.04, 0.5, 0.94]
    """
    return stories**2 / (stories**2 + ABUNDANT**2)


def faded(hours: NDArray[np.float64]) -> NDArray[np.float64]:
    """The remaining share of similarity over gaps in hours.

    >>> faded(np.array([0.0, 48.0])).tolist()
    [1.0, 0.575]
    """
    return 1 - FADING + FADING * np.exp2(-hours / HALF_LIFE)


def agrees(query: Weights, hours: float, reports: Sequence[Report], least: float, stories: int) -> bool:
    """Whether one of some reports is similar to a posting.

    Among many stories also beside the two terms that contribute most, which may be a name that both have.

    Parameters
    ----------
    query : (n_buckets,) ndarray of float
        Weight of each term in the posting.
    hours : float
        Time of the posting, since 1970.
    reports : sequence of Report
    least : float
        Similarity that a report must have among few stories.
    stories : int
        Number of active stories.
    """
    abundant = abundance(stories)
    least += NEAREST_AMONG_MANY * abundant
    beside = BESIDE_AMONG_MANY * max(abundant - MANY, 0.0) / (1 - MANY)
    remaining = faded(np.abs(np.array([report.hours for report in reports]) - hours)).tolist()
    for report, share in zip(reports, remaining, strict=True):
        shared = query[report.vector.terms] * report.vector.weights
        if share * float(shared.sum()) >= least:
            shared.sort()
            if share * float(shared[:-SUBJECT].sum()) >= beside:
                return True
    return False
