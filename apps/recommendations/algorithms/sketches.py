"""What sources write about, compared with what a user reads."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Terms = NDArray[np.int32]

MAX_TERMS = 200  # of a sketch
MIN_COMMON = 3  # terms: below that a likeness is one of single words


class Sketch(NamedTuple):
    """Terms of a source's postings, all different, and the share of its postings that have each."""

    terms: Terms
    shares: NDArray[np.float32]


def sketch(postings: Sequence[Terms]) -> Sketch:
    """What a source writes about: its 200 most frequent terms that more than one posting has.

    Parameters
    ----------
    postings : (n_postings,) sequence of int arrays
        The terms of each, all different. Of a single posting, all are taken.

    Examples
    --------
    >>> found = sketch([np.array([4, 9], np.int32), np.array([9, 2], np.int32)])
    >>> found.terms.tolist(), found.shares.tolist()
    ([9], [1.0])
    """
    if not postings:
        return Sketch(np.zeros(0, np.int32), np.zeros(0, np.float32))
    terms, counts = np.unique(np.concatenate(postings), return_counts=True)
    kept = counts >= min(2, len(postings))
    terms, counts = terms[kept], counts[kept]
    order = np.lexsort((terms, -counts))[:MAX_TERMS]
    return Sketch(terms[order].astype(np.int32), (counts[order] / len(postings)).astype(np.float32))


class Library:
    """The sketches of many sources, to compare with users' tastes."""

    def __init__(self, sketches: Mapping[int, Sketch]) -> None:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy; nothing at the portal's start needs it

        self.sources = sorted(source for source, each in sketches.items() if each.terms.size)
        chosen = [sketches[source] for source in self.sources]
        terms = _joined([each.terms for each in chosen], np.int32)
        shares = _joined([each.shares for each in chosen], np.float32).astype(np.float64)
        rows = np.repeat(np.arange(len(chosen)), [each.terms.size for each in chosen])
        self._terms, columns, held = np.unique(terms, return_inverse=True, return_counts=True)
        # A term that all sources have says nothing of any.
        self._rarity = np.log((1 + len(chosen)) / (1 + held)) + 1e-9
        matrix = csr_matrix((shares * self._rarity[columns], (rows, columns)), (len(chosen), self._terms.size))
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        self._matrix = csr_matrix(matrix.multiply((1 / np.maximum(lengths, 1e-12))[:, None]))
        self._has = csr_matrix((np.ones(rows.size), (rows, columns)), matrix.shape)

    def likenesses(self, liked: Mapping[int, float]) -> dict[int, float]:
        """The cosine of each source's sketch and a user's taste, both weighted by the rarity of each term.

        Parameters
        ----------
        liked : mapping of int to float
            The weight of each term; those below 0 are left out.

        Returns
        -------
        likenesses : dict of int to float
            In (0, 1], of the sources that have at least three of the terms.

        References
        ----------
        J. Rocchio, "Relevance feedback in information retrieval", 1971; G. Salton, C. Buckley, "Term-weighting
        approaches in automatic text retrieval", 1988.

        Examples
        --------
        >>> terms = lambda *numbers: Sketch(np.array(numbers, np.int32), np.ones(len(numbers), np.float32))
        >>> library = Library({1: terms(1, 2, 3), 2: terms(4, 5, 6), 3: terms(1, 4, 5)})
        >>> list(library.likenesses({1: 1.0, 2: 1.0, 3: 1.0, 9: 1.0}))
        [1]
        """
        known = {term: weight for term, weight in liked.items() if weight > 0}
        if not known or not self.sources:
            return {}
        wanted = np.array(sorted(known), np.int32)
        weights = np.array([known[term] for term in wanted.tolist()])
        places = np.searchsorted(self._terms, wanted)
        places = np.minimum(places, self._terms.size - 1)
        found = self._terms[places] == wanted
        # A term of no source has the maximum rarity, and lowers the cosine of all sources alike.
        rarity = np.where(found, self._rarity[places], np.log(1 + len(self.sources)))
        length = float(np.sqrt(np.sum((weights * rarity) ** 2)))
        vector = np.zeros(self._terms.size)
        vector[places[found]] = (weights * rarity)[found] / max(length, 1e-12)
        cosines = np.asarray(self._matrix @ vector, np.float64)
        common = np.asarray(self._has @ (vector > 0).astype(np.float64), np.float64)
        return {
            self.sources[place]: float(cosines[place])
            for place in np.flatnonzero((cosines > 0) & (common >= MIN_COMMON)).tolist()
        }


def _joined(arrays: Sequence[NDArray[np.generic]], kind: type[np.generic]) -> NDArray[np.generic]:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)
