"""Baselines: BM25, and BM25 with the relevance model RM3.

References
----------
N. Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD" (RM3), in the form in which Anserini runs it.
"""

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import inverse_document_frequencies
from apps.search.algorithms.models.index import Index, IntArray
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking, best

FEEDBACK_DOCUMENTS, FEEDBACK_TERMS, ORIGINAL_SHARE = 10, 30, 0.5


def bm25(index: Index, query: Query, count: int) -> Ranking:
    """BM25, each term as often as it stands in the query."""
    return _ranked(index, index.numbers(list(query.terms)), np.array(list(query.terms.values()), float), count)


def bm25_rm3(index: Index, query: Query, count: int) -> Ranking:
    """BM25 of half the query and half the words of its 10 best documents.

    ``p(w) = sum over documents of score share * tf / length``; the 30 likeliest words, scaled to sum 1, are mixed with
    the query, scaled to sum 1.
    """
    first = bm25(index, query, FEEDBACK_DOCUMENTS)
    if not len(first):
        return first
    vectors = index.vectors(first.documents)
    document_of = np.repeat(np.arange(len(first)), np.diff(vectors.bounds))
    shares = first.scores / first.scores.sum() / vectors.lengths
    terms, places = np.unique(vectors.terms, return_inverse=True)
    likelihoods = np.bincount(places, shares[document_of] * vectors.frequencies)
    likeliest = np.lexsort((terms, -likelihoods))[:FEEDBACK_TERMS]

    weights = np.array(list(query.terms.values()), float)
    numbers = np.append(index.numbers(list(query.terms)), terms[likeliest])
    mixed = np.append(
        ORIGINAL_SHARE * weights / weights.sum(),
        (1 - ORIGINAL_SHARE) * likelihoods[likeliest] / likelihoods[likeliest].sum(),
    )
    distinct, places = np.unique(numbers, return_inverse=True)
    return _ranked(index, distinct, np.asarray(np.bincount(places, mixed), np.float64), count)


def _ranked(index: Index, numbers: IntArray, weights: NDArray[np.float64], count: int) -> Ranking:
    rarities = inverse_document_frequencies(index.document_frequencies(numbers), index.documents)
    return best(index.blocks(numbers), weights * rarities, count)
