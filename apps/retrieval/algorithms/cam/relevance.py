"""Relevance by the vector space model, the cosine of tf-idf vectors; appendix B of the paper.

A term's weight in a page is (1 + ln tf) ln(1 + n / df), in a query ln(1 + n / df) with n and df of the pages.
"""

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray

Vector = tuple[IntArray, FloatArray]  # numbers of terms, and their weights


def unit_vector(
    terms: IntArray, counts: IntArray, frequencies: IntArray, documents: int, *, most: int | None = None
) -> Vector:
    """The heaviest terms of what is given, and their weights, of unit length together.

    Parameters
    ----------
    terms, counts, frequencies : arrays (k,)
        Numbers of distinct terms, their counts, and the documents of the collection that contain them.
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
