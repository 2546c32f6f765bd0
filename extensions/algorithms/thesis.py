"""The model of the thesis, to the letter: a vector space model with feedback from the best and the worst documents.

Where the thesis is silent or says two things, this is how it is read here:

- `docw` is the length of a document's tf*idf weights, as the cosine has it, and not of its idf values alone, as the
  description of the index has it.
- The cosine's division by the length of the query is left out: it is the same for all documents.
- Retrieved are the 1,000 best documents with a score above 0. The 10 "lowest" are the last of these that are not among
  the 10 best.
- Feedback vectors are not normalised: plain sums of tf*idf weights, as printed.
- Expansion takes the 30 terms with the largest weights above 0. Those that the query has already count among them and
  stay as they are; an added term weighs as if it stood once in the query, that is, its idf.
- Reweighting touches only the query's terms with a weight above 0; a weight that falls below 0 becomes 0.
- Reweighting alone takes its documents from the first retrieval; after an expansion, from the second.

It is here to be compared with: read like this, its feedback makes most answers worse, because unnormalised vectors let
long documents dominate, and added terms weigh as much as those of the query.

References
----------
Ai-Times, chapter 4. Its formulas are those of Rocchio 1971 and of Xu and Croft 1996.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.index import UNKNOWN, Index, IntArray, Vectors
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking, ranking

RETRIEVED = 1000
JUDGED = 10  # best documents taken for relevant, and worst ones taken for irrelevant
ADDED = 30

Weights = Mapping[int, float]  # by term number


@dataclass(frozen=True)
class ThreeIndexes:
    """The thesis' three sub-indexes, of N documents.

    The basic index maps a term to its documents: the postings of term t are those from `bounds[t]` to `bounds[t + 1]`.
    The idf index maps a term to ``ln(N / documents with it)``, the docw index a document to its weight.
    """

    documents: IntArray  # (N,) their numbers, ascending; all below speaks of places in it
    posting_documents: IntArray
    posting_frequencies: IntArray
    bounds: IntArray
    idf: NDArray[np.float64]
    docw: NDArray[np.float64]
    vectors: Vectors  # the way back, from a document to its terms

    def frequencies_in(self, places: IntArray) -> NDArray[np.int64]:
        """How often each term stands in some documents together; one number per term."""
        counts = np.zeros(self.idf.size, np.int64)
        for place in places:
            items = slice(self.vectors.bounds[place], self.vectors.bounds[place + 1])
            counts[self.vectors.terms[items]] += self.vectors.frequencies[items]  # no term of a document comes twice
        return counts


def three_indexes(read: Callable[[IntArray], Vectors], documents: IntArray) -> ThreeIndexes:
    """The three sub-indexes of these documents, in memory: for collections of some ten thousand documents.

    Parameters
    ----------
    read : callable
        Returns the term frequencies of documents, as `Index.vectors`.
    documents : (N,) array of int
        All that can be found.
    """
    documents = np.sort(documents)
    vectors = read(documents)
    document_of = np.repeat(np.arange(documents.size), np.diff(vectors.bounds))
    order = np.argsort(vectors.terms, kind="stable")
    counts = np.bincount(vectors.terms)
    idf = np.log(documents.size / np.maximum(counts, 1))
    weights = vectors.frequencies * idf[vectors.terms]
    docw = np.sqrt(np.bincount(document_of, weights**2, minlength=documents.size))
    return ThreeIndexes(
        documents,
        document_of[order],
        vectors.frequencies[order],
        np.concatenate([[0], np.cumsum(counts)]),
        idf,
        docw,
        vectors,
    )


def vsm_qe(indexes: ThreeIndexes, index: Index, query: Query) -> Weights:
    """With query expansion: two retrievals."""
    weights = query_weights(indexes, index, query)
    return expanded(indexes, weights, retrieve(indexes, weights))


def vsm_tr(indexes: ThreeIndexes, index: Index, query: Query) -> Weights:
    """With term reweighting: two retrievals."""
    weights = query_weights(indexes, index, query)
    return reweighted(indexes, weights, retrieve(indexes, weights))


def vsm_qe_tr(indexes: ThreeIndexes, index: Index, query: Query) -> Weights:
    """With expansion, then reweighting by what the expanded query retrieves: three retrievals."""
    weights = vsm_qe(indexes, index, query)
    return reweighted(indexes, weights, retrieve(indexes, weights))


def query_weights(indexes: ThreeIndexes, index: Index, query: Query) -> Weights:
    """``f * idf`` of the query's terms that some document holds."""
    numbers = index.numbers(list(query.terms))
    return {
        int(number): times * float(indexes.idf[number])
        for number, times in zip(numbers, query.terms.values(), strict=True)
        if number != UNKNOWN and number < indexes.idf.size
    }


def answer(indexes: ThreeIndexes, weights: Weights) -> Ranking:
    """The documents retrieved last."""
    found = retrieve(indexes, weights)
    return Ranking(np.asarray(indexes.documents[found.documents], np.int64), found.scores)


def retrieve(indexes: ThreeIndexes, weights: Weights) -> Ranking:
    """The 1,000 best documents, as places, with ``sum of w * v / docw`` above 0."""
    scores = np.zeros(indexes.documents.size)
    for term, weight in weights.items():
        postings = slice(indexes.bounds[term], indexes.bounds[term + 1])
        scores[indexes.posting_documents[postings]] += (
            weight * indexes.idf[term] * indexes.posting_frequencies[postings]
        )
    found = np.flatnonzero(scores > 0)
    return ranking(found, scores[found] / indexes.docw[found]).first(RETRIEVED)


def difference(indexes: ThreeIndexes, found: Ranking) -> NDArray[np.float64]:
    """Sum of each term's weights over the 10 best documents less that over the 10 worst: the core of both formulas.

    Frequencies are summed before they are weighed, so that what cancels out leaves nothing, and no trace of rounding
    by which something would be found.
    """
    best, rest = found.documents[:JUDGED], found.documents[JUDGED:]
    return (indexes.frequencies_in(best) - indexes.frequencies_in(rest[-JUDGED:])) * indexes.idf


def expanded(indexes: ThreeIndexes, weights: Weights, found: Ranking) -> Weights:
    """Query expansion: the query with the terms of the largest difference."""
    gains = difference(indexes, found)
    chosen = np.lexsort((np.arange(gains.size), -gains))[:ADDED]
    return {int(term): float(indexes.idf[term]) for term in chosen if gains[term] > 0} | dict(weights)


def reweighted(indexes: ThreeIndexes, weights: Weights, found: Ranking) -> Weights:
    """Term reweighting after Rocchio: each weight plus the term's difference."""
    gains = difference(indexes, found)
    return {term: max(0.0, weight + float(gains[term])) for term, weight in weights.items() if weight > 0}
