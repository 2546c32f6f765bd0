"""Postings of a window as arrays: the terms of each, and the postings of each term."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Documents:
    """Concatenated postings; the distinct terms of posting d are ``terms[offsets[d]:offsets[d + 1]]``."""

    sources: NDArray[np.int64]  # (n_documents,)
    offsets: NDArray[np.int64]  # (n_documents + 1,)
    terms: NDArray[np.int64]  # (n_occurrences,)

    def __len__(self) -> int:
        return len(self.sources)


def gather(terms: Sequence[NDArray[np.int64]], sources: Sequence[int]) -> Documents:
    """Concatenate documents, each an array of distinct terms.

    >>> gather([np.array([7, 9]), np.array([9])], [1, 2]).offsets.tolist()
    [0, 2, 3]
    """
    offsets = np.cumsum([0, *map(len, terms)])
    joined = np.concatenate(terms) if len(terms) else np.empty(0, np.int64)
    return Documents(np.asarray(sources, np.int64), offsets, joined)


def holders(documents: Documents, terms: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The documents with each of the terms, ascending.

    >>> found = holders(gather([np.array([7, 9]), np.array([9])], [1, 2]), np.array([9, 8, 7]))
    >>> [numbers.tolist() for numbers in found]
    [[0, 1], [], [0]]
    """
    order = np.argsort(terms, kind="stable")
    ascending = terms[order]
    place = np.searchsorted(ascending, documents.terms)
    place[place == len(terms)] = 0
    is_wanted = ascending[place] == documents.terms if len(terms) else np.zeros(len(place), bool)
    document = np.repeat(np.arange(len(documents)), np.diff(documents.offsets))[is_wanted]
    wanted = order[place[is_wanted]]
    sequence = np.lexsort((document, wanted))
    ends = np.cumsum(np.bincount(wanted, minlength=len(terms)))
    return np.split(document[sequence], ends[:-1]) if len(terms) else []


def source_counts(documents: Documents, held_by: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The number of sources of each term's documents."""
    return np.array([len(np.unique(documents.sources[numbers])) for numbers in held_by], np.int64)
