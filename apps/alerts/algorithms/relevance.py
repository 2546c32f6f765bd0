"""Relevance of sources to searches: the vector space model on profiles of sources and terms of queries."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

HEAVIEST = 400  # terms of a source that are kept
MIN_RELEVANCE = 0.03  # relevance below which a source does not serve a search
MIN_OF_BEST = 1 / 3  # of that of the best source: mentioning its words in passing is not relevance
MAX_SOURCES = 30  # that serve one search


def relevant_sources(
    sources: "sparse.csr_array", searches: "sparse.csr_array"
) -> tuple[IntArray, IntArray, FloatArray]:
    """The sources that serve each search best: rows of searches, rows of sources, and the cosines.

    >>> from apps.retrieval.algorithms.cam.relevance import matrix
    >>> sources = matrix([(np.array([0]), np.array([1.0])), (np.array([0, 1]), np.array([0.8, 0.6]))], 2)
    >>> searches = matrix([(np.array([1]), np.array([1.0])), (np.array([0]), np.array([1.0]))], 2)
    >>> [found.tolist() for found in relevant_sources(sources, searches)]
    [[0, 1, 1], [1, 0, 1], [0.6, 1.0, 0.8]]
    """
    cosines = (searches @ sources.T).tocoo()
    of_search, of_source, values = cosines.row, cosines.col, cosines.data
    order = np.lexsort((of_source, -values, of_search))
    of_search, of_source, values = of_search[order], of_source[order], values[order]
    begins = np.searchsorted(of_search, of_search)  # of the search of each
    least = np.maximum(MIN_RELEVANCE, MIN_OF_BEST * values[begins])
    kept = (np.arange(len(of_search)) - begins < MAX_SOURCES) & (values >= least)
    return of_search[kept].astype(np.int64), of_source[kept].astype(np.int64), np.minimum(values[kept], 1.0)
