"""What a page is worth: its relevance to standing queries times their importance; appendix B of the paper."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy import sparse

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Vector = tuple[IntArray, FloatArray]  # numbers of terms, and their weights


def relevances(pages: Sequence[Sequence[str]], queries: Sequence[Collection[str]]) -> "sparse.csr_array":
    """Relevance r_ij of page i to query j by the vector space model: the cosine of their tf-idf vectors.

    A term's weight in a page is (1 + ln tf) ln(1 + n / df), in a query ln(1 + n / df) with n and df of the pages; terms
    of no page count for nothing.

    Parameters
    ----------
    pages : sequence of sequences of terms
        The text of each page, or of what changed on it; may be empty.
    queries : sequence of collections of terms

    Returns
    -------
    sparse array (pages, queries), in [0, 1]; 0 is not stored

    Examples
    --------
    >>> pages = [["hurricane", "reaches", "florida"], ["hurricane", "hurricane"], ["football"]]
    >>> relevances(pages, [["hurricane"], ["florida", "hurricane"], ["tennis"]]).toarray().round(2).tolist()
    [[0.42, 0.77, 0.0], [1.0, 0.55, 0.0], [0.0, 0.0, 0.0]]
    """
    number = {term: place for place, term in enumerate(dict.fromkeys(term for page in pages for term in page))}
    counts = [Counter(page) for page in pages]
    frequency = Counter(term for count in counts for term in count)

    def vector(count: Counter[str]) -> Vector:
        known = [term for term in count if term in number]
        columns, held = ([of[term] for term in known] for of in (number, frequency))
        occurring = np.array([count[term] for term in known], np.int64)
        return unit_vector(np.array(columns, np.int64), occurring, np.array(held, np.int64), len(pages))

    of_pages = matrix([vector(count) for count in counts], len(number))
    found: sparse.csr_array = of_pages @ matrix([vector(Counter(set(query))) for query in queries], len(number)).T
    return found


def unit_vector(
    terms: IntArray, counts: IntArray, frequencies: IntArray, documents: int, *, most: int | None = None
) -> Vector:
    """The heaviest terms of what is given, and their weights, of unit length together.

    Parameters
    ----------
    terms, counts, frequencies : arrays (k,)
        Numbers of distinct terms, how often each occurs, and how many documents of the collection hold it.
    documents : int
        n, in the whole collection.
    most : int, optional
        Terms that are kept.

    Examples
    --------
    >>> terms, weights = unit_vector(np.array([1, 2]), np.array([1, 3]), np.array([10, 10]), 100)
    >>> terms.tolist(), weights.round(2).tolist()
    ([2, 1], [0.9, 0.43])
    """
    weights = (1 + np.log(counts)) * np.log1p(documents / np.maximum(frequencies, 1))
    order = np.lexsort((terms, -weights))[:most]
    kept = weights[order]
    return terms[order], kept / max(float(np.linalg.norm(kept)), 1e-12)


def matrix(rows: Sequence[Vector], columns: int) -> "sparse.csr_array":
    """Vectors as the rows of a sparse matrix, shape (rows, columns)."""
    from scipy import sparse  # noqa: PLC0415 - heavy; nothing at the portal's start needs it

    starts = np.cumsum([0, *(len(terms) for terms, _ in rows)])
    terms = np.concatenate([np.zeros(0, np.int64), *(terms for terms, _ in rows)])
    weights = np.concatenate([np.zeros(0), *(weights for _, weights in rows)])
    return sparse.csr_array((weights, terms, starts), shape=(len(rows), columns))


def page_weights(relevance: "sparse.csr_array", importance: ArrayLike) -> FloatArray:
    """W_i: the sum over a page's queries of importance times relevance, shape (pages,).

    >>> page_weights(relevances([["rain"], ["sun"]], [["rain"], ["rain"]]), [1.0, 0.5]).tolist()
    [1.5, 0.0]
    """
    return np.asarray(relevance @ np.asarray(importance, dtype=np.float64))
