"""The in-memory segment: new documents, inverted in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import Attributes
from apps.search.algorithms.index.inversion import Document, Inversion, invert
from apps.search.algorithms.models.bm25 import impacts
from apps.search.algorithms.models.index import Row

MIN_DOCUMENTS = 32  # of a chunk, except for the last one


def spans(first: int, end: int) -> list[tuple[int, int]]:
    """First and end of the chunks of the documents from `first` to `end`, the oldest first.

    As documents arrive only the last few borders change, so that chunks can be cached: each document is inverted again
    once per doubling, and there are few chunks.

    >>> spans(0, 100), spans(0, 130), spans(2_048, 2_050)
    ([(0, 64), (64, 96), (96, 100)], [(0, 128), (128, 130)], [(2048, 2050)])
    """
    found = []
    while end - first >= MIN_DOCUMENTS:
        length = 1 << ((end - first).bit_length() - 1)
        if first:
            length = min(length, first & -first)  # the largest power of two that divides it
        if length < MIN_DOCUMENTS:
            length = min(MIN_DOCUMENTS - first % MIN_DOCUMENTS, end - first)
        found.append((first, first + length))
        first += length
    return found + [(first, end)] * (first < end)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Adjacent documents; dead ones are None."""

    first: int
    documents: Sequence[Document | None]
    attributes: Attributes  # meaningless for dead ones
    inversion: Inversion
    alive: NDArray[np.bool_]

    @classmethod
    def of(cls, first: int, documents: Sequence[Document | None], attributes: Attributes) -> "Chunk":
        alive = np.array([document is not None for document in documents], np.bool_)
        return cls(first, documents, attributes, invert(documents), alive)

    @property
    def size(self) -> int:
        return len(self.documents)

    @property
    def weight(self) -> int:
        """Bytes of its arrays, without the documents."""
        found = self.inversion
        return found.terms.nbytes * 2 + found.documents.nbytes * 2 + self.size * 40

    def rows(self, terms: Sequence[int], average_length: float) -> list[Row | None]:
        """The postings of each term with exact impacts, None without any."""
        found = self.inversion
        starts, ends = found.places(np.array(terms, np.int64))
        counts = ends - starts
        edges = np.cumsum(counts)
        # The postings of all terms, concatenated.
        postings = np.arange(counts.sum()) + np.repeat(starts - edges + counts, counts)
        documents = found.documents[postings]
        values = impacts(found.frequencies[postings], found.lengths[documents], average_length)
        return [
            Row(documents[end - count : end], values[end - count : end]) if count else None
            for end, count in zip(edges.tolist(), counts.tolist(), strict=True)
        ]

    def frequencies(self, terms: NDArray[np.integer]) -> NDArray[np.int64]:
        """Document frequency of each term."""
        starts, ends = self.inversion.places(terms)
        return ends - starts
