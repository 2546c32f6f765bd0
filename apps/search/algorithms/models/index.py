"""The interface of an index for ranking, independent of its storage.

Terms and documents are numbers here. Documents are numbered from 0 in the order in which they became searchable, so
that a larger number is newer. Blocks (generations, and the in-memory segment) share them out: each holds
the documents `first` to `first + size - 1`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.floating]

UNKNOWN = 0  # the number of a term that the index does not hold; terms are numbered from 1


def distinct(numbers: IntArray) -> IntArray:
    """Each number once, ascending; `np.unique` hashes them first, which takes four times as long.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0])


@dataclass(frozen=True, slots=True)
class Row:
    """The postings of one term in one block."""

    documents: IntArray  # offsets from the block's first document, ascending; uint16 will do
    impacts: NDArray[np.uint8] | NDArray[np.float32]  # see `bm25.impacts`: packed, or as they are
    largest: int = 255  # bound on the impacts, packed


class Block(Protocol):
    """Adjacent documents with their postings, which are read on demand."""

    first: int
    size: int

    def largest(self) -> FloatArray | None:
        """Upper bounds of the impacts of the requested terms, in their order; None where reading is as cheap."""
        ...

    def rows(self) -> Sequence[Row | None]:
        """The postings of the requested terms, in their order; None for a term without any."""
        ...

    def allowed(self, documents: IntArray) -> IntArray:
        """Those of the documents, offsets in the block, that may be found, by filters, phrases, exclusions.

        What was deleted is not allowed.
        """
        ...

    def factors(self) -> FloatArray | None:
        """Of shape (size,): what scores are multiplied by (freshness, authority), within (0, 1]; None for 1."""
        ...

    def largest_factor(self) -> float:
        """No factor of the block is above it."""
        ...


@dataclass(frozen=True, slots=True)
class Vectors:
    """Term frequencies of k documents, one after the other."""

    terms: IntArray  # the distinct terms of each
    frequencies: IntArray
    bounds: IntArray  # (k + 1,): document i has the items from bounds[i] to bounds[i + 1]
    lengths: IntArray  # (k,): terms with repetition, as they counted when it was indexed
    sources: IntArray  # (k,): who published each


@dataclass(frozen=True, slots=True)
class Sequences:
    """Words of k documents in their order, one document after the other."""

    items: IntArray  # term numbers, those of stop words negative
    bounds: IntArray  # (k + 1,)


class Index(Protocol):
    """An index in one consistent snapshot."""

    @property
    def documents(self) -> int:
        """How many can be found."""
        ...

    @property
    def average_length(self) -> float:
        """The mean of their numbers of terms."""
        ...

    def numbers(self, terms: Sequence[str]) -> IntArray:
        """The number of each term, UNKNOWN where it has none."""
        ...

    def names(self, numbers: IntArray) -> list[str]:
        """The term of each number, the way back from `numbers`."""
        ...

    def document_frequencies(self, numbers: IntArray) -> IntArray:
        """How many documents hold each term; 0 for UNKNOWN."""
        ...

    def blocks(self, numbers: IntArray) -> Iterable[Block]:
        """The blocks, newest first, ready to give the rows of these terms; a huge index may leave out the oldest."""
        ...

    def vectors(self, documents: IntArray) -> Vectors:
        """Term frequencies of the documents, in their order."""
        ...

    def sequences(self, documents: IntArray) -> Sequences:
        """Word sequences of the documents, in their order."""
        ...
