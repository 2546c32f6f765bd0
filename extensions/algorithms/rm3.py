"""BM25 with feedback after RM3.

References
----------
V. Lavrenko, W. B. Croft, *Relevance-based language models*, SIGIR 2001; N. Abdul-Jaleel and others, *UMass at TREC
2004: novelty and HARD*.
"""

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.index import Index, IntArray
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import bm25

FEEDBACK_DOCUMENTS, FEEDBACK_TERMS, ORIGINAL_SHARE = 10, 30, 0.5


def rm3_weights(index: Index, query: Query) -> tuple[IntArray, NDArray[np.float64]]:
    """The terms of RM3, ascending, and their weights.

    ``p(w) = sum over documents of score share * tf / length``; the 30 likeliest words, scaled to sum 1, are mixed with
    the query, scaled to sum 1.
    """
    first = bm25(index, query, FEEDBACK_DOCUMENTS)
    if not len(first):
        return np.empty(0, np.int64), np.empty(0)
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
    return distinct, np.asarray(np.bincount(places, mixed), np.float64)
