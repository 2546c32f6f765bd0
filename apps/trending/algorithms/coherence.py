"""Whether the documents of a term are about one matter, or only happen to hold the same word."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from apps.trending.algorithms.documents import Documents
from apps.trending.algorithms.terms import joints_of, number_of

MAX_COMPARED = 12  # documents per term, evenly chosen
SHARED = 0.1  # share of the other words of the shorter document, at least one, that related documents have in common
COHERENT = 0.5  # share of a term's documents with a related one, from which the term is a topic


def coherent(documents: Documents, held_by: Sequence[NDArray[np.int64]], keys: Sequence[str]) -> NDArray[np.bool_]:
    """(n_terms,) Whether half of a term's documents have a related one: one that shares further words with it.

    Documents without further words do not count.

    Parameters
    ----------
    documents : Documents
        Of the window.
    held_by : sequence of ndarray of int
        The documents of each term, ascending.
    keys : sequence of str
        Of the terms; their own words do not count.

    Examples
    --------
    >>> from apps.trending.algorithms.documents import gather
    >>> numbers = {word: number_of(word, 0) for word in ("storm", "bridge", "step", "dance", "rate")}
    >>> texts = ["storm bridge", "storm bridge", "step dance", "step rate"]
    >>> rows = [np.array([numbers[word] for word in text.split()]) for text in texts]
    >>> held_by = [np.array([0, 1]), np.array([2, 3])]
    >>> coherent(gather(rows, [1, 2, 3, 4]), held_by, ["storm", "step"]).tolist()
    [True, False]
    """
    words: dict[int, frozenset[int]] = {}

    def words_of(document: int) -> frozenset[int]:
        if document not in words:
            terms = documents.terms[documents.offsets[document] : documents.offsets[document + 1]]
            words[document] = frozenset(terms[joints_of(terms) == 0].tolist())
        return words[document]

    found = []
    for held, key in zip(held_by, keys, strict=True):
        chosen = held[np.linspace(0, len(held) - 1, min(len(held), MAX_COMPARED)).astype(np.int64)].tolist()
        own = {number_of(word, 0) for word in key.split(" ")}
        others = [words_of(document) - own for document in chosen]
        related = {
            place
            for (one, first), (other, second) in combinations(enumerate(others), 2)
            if len(first & second) >= max(1.0, SHARED * min(len(first), len(second)))
            for place in (one, other)
        }
        found.append(len(related) >= COHERENT * sum(map(bool, others)))
    return np.array(found, bool)
