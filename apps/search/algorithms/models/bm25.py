"""BM25, factored into the impact of a posting, which an index can store, and the weight of a term.

    score(q, d) = sum over terms t of q_t * idf(t) * impact(t, d)

References
----------
S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", Foundations and Trends in
Information Retrieval 3(4), 2009.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

K1 = 1.2  # how soon further occurrences of a term in a document stop counting
B = 0.6  # how much long documents are penalized

TITLE = 2  # how many times a word of a title counts

MAX_PACKED = 255
MAX_IMPACT = K1 + 1
IMPACT_VERSION = f"BM25 k1={K1} b={B} title={TITLE}"  # impacts stored under another version have another scale


def impacts(frequencies: ArrayLike, lengths: ArrayLike, average_length: float) -> NDArray[np.float32]:
    """What each posting is worth: ``tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average_length))``.

    Parameters
    ----------
    frequencies : (n,) array_like of int
        How often the term stands in the document, each >= 1. May be a weighted sum over places.
    lengths : (n,) array_like of int, or int
        Terms of the document, with repetition.
    average_length : float
        Mean of the lengths of the archive's documents.

    Returns
    -------
    (n,) array of float32
        Within (0, k1 + 1).

    Examples
    --------
    >>> impacts([1, 2, 100], [10, 10, 10], 10.0).astype(float).round(2).tolist()
    [1.0, 1.38, 2.17]
    """
    frequency = np.asarray(frequencies, np.float32)  # k1 times a packed frequency of 8 bits would overflow
    burden = K1 * (1 - B + B * np.asarray(lengths, np.float32) / max(average_length, 1e-9))
    return np.asarray(frequency * (K1 + 1) / (frequency + burden), np.float32)


def packed(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Impacts in one byte each, 1 to 255; off by at most 1/510 of k1 + 1, or 1/255 for the smallest.

    >>> packed(np.array([0.0001, 1.0, 2.2], np.float32)).tolist()
    [1, 116, 255]
    """
    return np.asarray(np.clip(np.rint(values / (K1 + 1) * MAX_PACKED), 1, MAX_PACKED), np.uint8)


def points(values: NDArray[np.uint8] | NDArray[np.float32], each: int | NDArray[np.int64]) -> NDArray[np.int32]:
    """Impacts as whole numbers, whose sums are the same in any order: `each` for the smallest that can be packed.

    >>> points(np.array([255], np.uint8), 1000).tolist() == points(np.array([2.2], np.float32), 1000).tolist()
    True
    """
    if values.dtype == np.uint8:
        return np.multiply(values, each, dtype=np.int32)
    return np.rint(values.astype(np.float64) * (each * MAX_PACKED / MAX_IMPACT)).astype(np.int32)


def inverse_document_frequencies(document_frequencies: ArrayLike, documents: int) -> NDArray[np.float64]:
    """What each term is worth: ``ln(1 + (N - df + 0.5) / (df + 0.5))``, and 0 for a term that no document holds.

    >>> inverse_document_frequencies([0, 1, 10], 10).round(2).tolist()
    [0.0, 1.99, 0.05]
    """
    df = np.asarray(document_frequencies, np.float64)
    return np.where(df > 0, np.log1p((np.maximum(documents - df, 0) + 0.5) / (df + 0.5)), 0.0)
