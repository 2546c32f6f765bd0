"""Counts of terms in a period as two arrays that can be serialized, merged and searched."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Counts(NamedTuple):
    """The number of documents of a period, and of those with each term."""

    documents: int
    terms: NDArray[np.int64]  # (n_terms,), ascending
    counts: NDArray[np.int64]  # (n_terms,), above 0

    def of(self, terms: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of documents with each of the terms, in any order.

        >>> Counts(3, np.array([2, 5]), np.array([1, 3])).of(np.array([5, 4, 9])).tolist()
        [3, 0, 0]
        """
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        place = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[place] == terms, self.counts[place], 0)

    def only(self, terms: NDArray[np.int64]) -> "Counts":
        """Only the counts of these terms.

        >>> Counts(3, np.array([2, 5]), np.array([1, 3])).only(np.array([5, 7])).counts.tolist()
        [3]
        """
        kept = np.isin(self.terms, terms, assume_unique=True)
        return Counts(self.documents, self.terms[kept], self.counts[kept])


NOTHING = Counts(0, np.empty(0, np.int64), np.empty(0, np.int64))


def counted(rows: Sequence[NDArray[np.int64]]) -> Counts:
    """Counts of documents, each given by its distinct terms.

    >>> found = counted([np.array([2, 5]), np.array([5])])
    >>> found.documents, found.terms.tolist(), found.counts.tolist()
    (2, [2, 5], [1, 2])
    """
    if not rows:
        return NOTHING
    terms, counts = np.unique(np.concatenate(rows), return_counts=True)
    return Counts(len(rows), terms, counts.astype(np.int64))


def merged(several: Sequence[Counts]) -> Counts:
    """The sum of the counts of several periods.

    >>> both = merged([Counts(3, np.array([2]), np.array([3])), Counts(1, np.array([2, 4]), np.array([1, 1]))])
    >>> both.documents, both.terms.tolist(), both.counts.tolist()
    (4, [2, 4], [4, 1])
    """
    if not several:
        return NOTHING
    terms, places = np.unique(np.concatenate([each.terms for each in several]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([each.counts for each in several]), len(terms))
    return Counts(sum(each.documents for each in several), terms, counts.astype(np.int64))


def pack_terms(terms: NDArray[np.int64]) -> bytes:
    """Big-endian, so that SQL can search for the bytes of a term's number.

    >>> unpack_terms(pack_terms(np.array([-1, 7]))).tolist()
    [-1, 7]
    """
    return terms.astype(">i8").tobytes()


def unpack_terms(packed: bytes) -> NDArray[np.int64]:
    return np.frombuffer(packed, ">i8").astype(np.int64)


def pack_counts(counts: NDArray[np.int64]) -> bytes:
    """Four bytes each.

    >>> unpack_counts(pack_counts(np.array([1, 70_000]))).tolist()
    [1, 70000]
    """
    return counts.astype(">i4").tobytes()


def unpack_counts(packed: bytes) -> NDArray[np.int64]:
    return np.frombuffer(packed, ">i4").astype(np.int64)
