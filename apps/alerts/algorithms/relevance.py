"""How relevant sources are to searches, by the vector space model: what each has written about, and what is asked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Vector = tuple[IntArray, FloatArray]  # numbers of terms, and their weights

HEAVIEST = 400  # terms of a source that are kept
LEAST = 0.03  # relevance below which a source does not serve a search
LEAST_OF_BEST = 1 / 3  # of that of the source that serves it best: who mentions its words in passing does not serve it
MOST_SOURCES = 30  # that serve one search


def unit_vector(terms: IntArray, counts: IntArray, frequencies: IntArray, documents: int) -> Vector:
    """The heaviest terms of what is given, and their weights, of unit length together.

    The weight of a term is (1 + ln tf) ln(1 + n / df), as in appendix B of CAM.

    Parameters
    ----------
    terms, counts, frequencies : arrays (k,), k > 0
        Numbers of distinct terms, how often each occurs, and how many documents of the collection hold it.
    documents : int
        n, in the whole collection.

    Examples
    --------
    >>> terms, weights = unit_vector(np.array([1, 2]), np.array([1, 3]), np.array([10, 10]), 100)
    >>> terms.tolist(), weights.round(2).tolist()
    ([2, 1], [0.9, 0.43])
    """
    weights = (1 + np.log(counts)) * np.log1p(documents / np.maximum(frequencies, 1))
    order = np.lexsort((terms, -weights))[:HEAVIEST]
    kept = weights[order]
    return terms[order], kept / max(float(np.linalg.norm(kept)), 1e-12)


def matrix(rows: Sequence[Vector], columns: int) -> "sparse.csr_array":
    """Vectors as the rows of a sparse matrix, shape (rows, columns)."""
    from scipy import sparse  # noqa: PLC0415 - heavy; nothing at the portal's start needs it

    starts = np.cumsum([0, *(len(terms) for terms, _ in rows)])
    terms = np.concatenate([terms for terms, _ in rows]) if rows else np.zeros(0, np.int64)
    weights = np.concatenate([weights for _, weights in rows]) if rows else np.zeros(0)
    return sparse.csr_array((weights, terms, starts), shape=(len(rows), columns))


def most_relevant(sources: "sparse.csr_array", searches: "sparse.csr_array") -> tuple[IntArray, IntArray, FloatArray]:
    """The sources that serve each search best: rows of searches, rows of sources, and the cosines.

    >>> sources = matrix([(np.array([0]), np.array([1.0])), (np.array([0, 1]), np.array([0.8, 0.6]))], 2)
    >>> searches = matrix([(np.array([1]), np.array([1.0])), (np.array([0]), np.array([1.0]))], 2)
    >>> [found.tolist() for found in most_relevant(sources, searches)]
    [[0, 1, 1], [1, 0, 1], [0.6, 1.0, 0.8]]
    """
    cosines = (searches @ sources.T).tocoo()
    of_search, of_source, values = cosines.row, cosines.col, cosines.data
    order = np.lexsort((of_source, -values, of_search))
    of_search, of_source, values = of_search[order], of_source[order], values[order]
    begins = np.searchsorted(of_search, of_search)  # of the search of each
    least = np.maximum(LEAST, LEAST_OF_BEST * values[begins])
    kept = (np.arange(len(of_search)) - begins < MOST_SOURCES) & (values >= least)
    return of_search[kept].astype(np.int64), of_source[kept].astype(np.int64), np.minimum(values[kept], 1.0)
