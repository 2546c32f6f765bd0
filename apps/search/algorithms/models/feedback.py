"""Terms of documents that are good answers, as words to add to a query, each with where it came from.

References
----------
J. J. Rocchio, "Relevance Feedback in Information Retrieval", in: G. Salton (ed.), The SMART Retrieval System, 1971.
G. Salton, C. Buckley, "Improving Retrieval Performance by Relevance Feedback", JASIS 41(4), 1990.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.index import FloatArray, Index, IntArray, Vectors

MAX_ORIGINS = 3  # documents named for a term
BoolArray = NDArray[np.bool_]
NO_DOCUMENTS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Term:
    """A term that feedback gives a weight."""

    term: str
    weight: float  # beside the query, whose own terms together have length 1
    origins: tuple[tuple[int, float], ...]  # documents it came from with their share of its weight, largest first


@dataclass(frozen=True, slots=True)
class Expansion:
    """The terms of feedback, heaviest first; the query's own are among them."""

    terms: tuple[Term, ...] = ()

    def added(self, query_terms: Collection[str]) -> tuple[Term, ...]:
        """The terms that the query did not have: the words to show as added."""
        return tuple(term for term in self.terms if term.term not in query_terms)


def unit_vectors(index: Index, vectors: Vectors) -> FloatArray:
    """The weights ``(1 + ln tf) * ln((N + 1) / df)`` of each document, divided by their Euclidean length.

    That length is the thesis' `docw`, of a weight in which neither a word repeated many times nor a long document
    rules.

    Returns
    -------
    (n_items,) array of float
        In the order of `vectors.terms`.
    """
    distinct, places = np.unique(vectors.terms, return_inverse=True)
    rarity = np.log((index.documents + 1) / np.maximum(index.document_frequencies(distinct), 1))
    weights = (1 + np.log(vectors.frequencies)) * np.maximum(rarity, 0)[places]
    document_of = np.repeat(np.arange(vectors.bounds.size - 1), np.diff(vectors.bounds))
    lengths = np.sqrt(np.bincount(document_of, weights**2, minlength=vectors.bounds.size - 1))
    return np.asarray(weights / np.maximum(lengths, 1e-9)[document_of])


def sharpened(scores: FloatArray, sharpness: float) -> NDArray[np.float64]:
    """How far each document is trusted: ``(score / best score) ** sharpness``, in shares of 1.

    Where the first document stands out, the others' shares all but vanish, and feedback cannot drift away from it;
    where many are as good, all speak.

    >>> sharpened(np.array([10.0, 5.0]), 6).round(3).tolist()
    [0.985, 0.015]
    """
    if not scores.size:
        return np.zeros(0)
    trust = (np.asarray(scores, np.float64) / scores[0]) ** sharpness
    return np.asarray(trust / trust.sum())


def expansion(
    index: Index,
    documents: IntArray,
    shares: FloatArray,
    count: int,
    *,
    without: Collection[str] = (),
    trusted: IntArray = NO_DOCUMENTS,
) -> Expansion:
    """The `count` terms with the largest sum of share times unit weight over the documents, of joint length 1.

    A term stands in at least two of the documents, from two sources unless they have only one, and is no number; those
    of trusted documents are taken as they are.

    Parameters
    ----------
    index : Index
    documents : (k,) array of int
    shares : (k,) array of float
        How much each document says for its terms; negative: against them.
    count : int
        Of terms with a sum above 0.
    without : collection of str
        Terms that were removed: the others of the document fill their places.
    trusted : array of int
        Documents of which each may lend any term.
    """
    if not count or not len(documents):
        return Expansion()
    vectors = index.vectors(documents)
    sizes = np.diff(vectors.bounds)
    parts = unit_vectors(index, vectors) * np.repeat(shares, sizes)
    distinct, places = np.unique(vectors.terms, return_inverse=True)
    document_of = np.repeat(np.arange(len(documents)), sizes)
    sums = np.bincount(places, parts, minlength=distinct.size)
    sums[np.isin(distinct, index.numbers(list(without)))] = 0
    for_it = parts > 0
    speaking = document_of[for_it]
    is_trusted = np.isin(documents, trusted)[speaking]
    sums[~_is_shared(places[for_it], vectors.sources[speaking], is_trusted, distinct.size)] = 0
    chosen = np.lexsort((distinct, -sums))  # the term's number only decides between equals
    chosen = chosen[sums[chosen] > 0][: 2 * count]
    names = index.names(distinct[chosen])
    if not trusted.size:
        chosen = chosen[[not name[0].isdigit() for name in names]]
        names = [name for name in names if not name[0].isdigit()]
    chosen, names = chosen[:count], names[:count]
    length = float(np.sqrt((sums[chosen] ** 2).sum()))
    origins = _origins(places, parts, np.asarray(documents)[document_of], chosen)
    return Expansion(
        tuple(
            Term(name, float(sums[number] / length), origin)
            for name, number, origin in zip(names, chosen, origins, strict=True)
        )
    )


def _is_shared(places: IntArray, sources: IntArray, is_trusted: BoolArray, count: int) -> BoolArray:
    """Whether each of `count` terms stands in two documents of two sources, or in a trusted one.

    The arguments have one value per document and term in it; of all documents from one source, one source will do.
    """
    pairs = np.unique(np.stack([places, sources]), axis=1)[0]
    needed = min(2, np.unique(sources).size)
    is_lent = np.bincount(places[is_trusted], minlength=count) > 0
    is_common = (np.bincount(places, minlength=count) >= 2) & (np.bincount(pairs, minlength=count) >= needed)
    return np.asarray(is_common | is_lent)


def _origins(
    places: IntArray, parts: FloatArray, document_of: IntArray, chosen: IntArray
) -> Sequence[tuple[tuple[int, float], ...]]:
    """For each chosen term, the documents that gave it most, with their shares of what all gave."""
    items = np.flatnonzero(np.isin(places, chosen) & (parts > 0))
    items = items[np.lexsort((-parts[items], places[items]))]
    starts = np.searchsorted(places[items], chosen, "left")
    ends = np.searchsorted(places[items], chosen, "right")
    origins = []
    for start, end in zip(starts, ends, strict=True):
        total = parts[items[start:end]].sum()
        top = items[start : min(end, start + MAX_ORIGINS)]
        origins.append(tuple((int(document_of[item]), float(parts[item] / total)) for item in top))
    return origins
