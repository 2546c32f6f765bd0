"""What a page is worth: its relevance to standing queries times their importance; appendix B of the paper."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy import sparse

FloatArray = NDArray[np.float64]


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
    idf = {term: math.log1p(len(pages) / frequency[term]) for term in number}
    of_pages = [{term: (1 + math.log(tf)) * idf[term] for term, tf in count.items()} for count in counts]
    of_queries = [{term: idf[term] for term in query if term in idf} for query in queries]
    found: sparse.csr_array = _unit_rows(of_pages, number) @ _unit_rows(of_queries, number).T
    return found


def _unit_rows(vectors: Sequence[dict[str, float]], number: dict[str, int]) -> "sparse.csr_array":
    from scipy import sparse  # noqa: PLC0415 - heavy; nothing at the portal's start needs it

    lengths = [math.sqrt(sum(value * value for value in vector.values())) for vector in vectors]
    rows = [row for row, vector in enumerate(vectors) for _ in vector]
    columns = [number[term] for vector in vectors for term in vector]
    values = [value / length for vector, length in zip(vectors, lengths, strict=True) for value in vector.values()]
    return sparse.csr_array((values, (rows, columns)), shape=(len(vectors), len(number)))


def page_weights(relevance: "sparse.csr_array", importance: ArrayLike) -> FloatArray:
    """W_i: the sum over a page's queries of importance times relevance, shape (pages,).

    >>> page_weights(relevances([["rain"], ["sun"]], [["rain"], ["rain"]]), [1.0, 0.5]).tolist()
    [1.5, 0.0]
    """
    return np.asarray(relevance @ np.asarray(importance, dtype=np.float64))
