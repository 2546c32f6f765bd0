"""Relevance of sources to searches: the vector space model on profiles of sources and terms of queries."""

from collections.abc import Sequence

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.cam.relevance import Vector

HEAVIEST = 400  # terms of a source that are kept
MIN_RELEVANCE = 0.03  # relevance below which a source does not serve a search
MIN_OF_BEST = 1 / 3  # of that of the best source: mentioning its words in passing is not relevance
MAX_SOURCES = 30  # that serve one search


def relevant_sources(sources: Sequence[Vector], searches: Sequence[Vector]) -> tuple[IntArray, IntArray, FloatArray]:
    """The sources that serve each search best: rows of searches, rows of sources, and the cosines.

    >>> sources = [(np.array([0]), np.array([1.0])), (np.array([0, 1]), np.array([0.8, 0.6]))]
    >>> searches = [(np.array([1]), np.array([1.0])), (np.array([0]), np.array([1.0]))]
    >>> [found.tolist() for found in relevant_sources(sources, searches)]
    [[0, 1, 1], [1, 0, 1], [0.6, 1.0, 0.8]]
    """
    rows = np.repeat(np.arange(len(sources)), [len(terms) for terms, _ in sources])
    terms = np.concatenate([np.zeros(0, np.int64), *(terms for terms, _ in sources)])
    weights = np.concatenate([np.zeros(0), *(weights for _, weights in sources)])
    order = np.argsort(terms, kind="stable")
    terms, rows, weights = terms[order], rows[order], weights[order]
    found = [_best(wanted, values, terms, rows, weights, len(sources)) for wanted, values in searches]
    of_search = np.repeat(np.arange(len(found)), [len(best) for best, _ in found])
    best = np.concatenate([np.zeros(0, np.int64), *(best for best, _ in found)])
    return of_search, best, np.concatenate([np.zeros(0), *(cosines for _, cosines in found)])


def _best(
    wanted: IntArray, values: FloatArray, terms: IntArray, rows: IntArray, weights: FloatArray, sources: int
) -> tuple[IntArray, FloatArray]:
    """The best sources of one search, by entries of all sources in the order of their terms."""
    begins, ends = np.searchsorted(terms, wanted), np.searchsorted(terms, wanted, side="right")
    entries = np.concatenate([np.zeros(0, np.int64), *map(np.arange, begins, ends)])
    products = np.repeat(values, ends - begins) * weights[entries]
    cosines = np.bincount(rows[entries], products, sources)
    best = np.argsort(-cosines, kind="stable")[:MAX_SOURCES]
    best = best[cosines[best] >= max(MIN_RELEVANCE, MIN_OF_BEST * cosines.max(initial=0.0))]
    return best, np.minimum(cosines[best], 1.0)
