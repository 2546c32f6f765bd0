"""Known scores of trending words, as baselines."""

import numpy as np
from numpy.typing import NDArray

from apps.trending.algorithms.scoring import Past

MAX_Z_WINDOWS, MAX_BNGRAM_WINDOWS = 14, 7
PHRASE_BOOST = 1.5


def z_scores(counts: NDArray[np.int64], past: Past, window: int) -> NDArray[np.float64]:
    """Standard deviations above the mean of the last 14 windows, for terms in 3 documents at least.

    >>> z_scores(np.array([9]), Past(np.array([[3], [5]]), np.array([9, 9])), 1).tolist()
    [2.5]
    """
    values = _windows(past, window, MAX_Z_WINDOWS)
    scores: NDArray[np.float64] = np.where(counts >= 3, (counts - values.mean(axis=0)) / (values.std(axis=0) + 1), 0.0)
    return scores


def chi2_scores(counts: NDArray[np.int64], total: int, past: Past, background: int) -> NDArray[np.float64]:
    """Chi-square of a term's documents in the window against those in the background, 0 for terms that fall."""
    before, postings = past.last(background)
    with_term, without = counts + before, total + postings - counts - before
    numerator = (total + postings) * (counts * (postings - before) - before * (total - counts)) ** 2.0
    scores: NDArray[np.float64] = numerator / np.maximum(with_term * without * float(total) * max(postings, 1), 1.0)
    return np.where(counts * postings > before * total, scores, 0.0)


def bngram_scores(counts: NDArray[np.int64], joints: NDArray[np.int64], past: Past, window: int) -> NDArray[np.float64]:
    """df-idf_t of Aiello et al. 2013 over the last 7 windows, phrases being worth half as much again."""
    usual = _windows(past, window, MAX_BNGRAM_WINDOWS).mean(axis=0)
    scores: NDArray[np.float64] = (counts + 1) / (np.log(usual + 1) + 1) * np.where(joints > 0, PHRASE_BOOST, 1.0)
    return scores


def _windows(past: Past, length: int, count: int) -> NDArray[np.int64]:
    found = [counts for _, (counts, _) in zip(range(count), past.windows(length), strict=False)]
    return np.array(found) if found else np.zeros((1, past.counts.shape[1]), np.int64)
