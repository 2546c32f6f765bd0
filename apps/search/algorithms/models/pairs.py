"""A bonus for documents in which words of the query stand next to each other as they do there."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import impacts, inverse_document_frequencies
from apps.search.algorithms.models.index import UNKNOWN, Index, IntArray, Sequences


def pair_bonus(index: Index, documents: IntArray, pairs: Mapping[tuple[str, str], float]) -> NDArray[np.float64]:
    """What the query's pairs are worth in each document: BM25 of pairs, a pair's idf being the mean of its words'.

    ``sum over pairs xy of count_q(xy) * (idf(x) + idf(y)) / 2 * impact(count_d(xy))``. A pair counts where y follows x
    with nothing but stop words between them, here as in the query.

    Parameters
    ----------
    index : Index
    documents : (k,) array of int
    pairs : mapping of two terms to how often they stand in the query

    Returns
    -------
    (k,) array of float
    """
    numbers = index.numbers([term for pair in pairs for term in pair]).reshape(-1, 2)
    known = (numbers != UNKNOWN).all(axis=1)
    if not len(documents) or not known.any():
        return np.zeros(len(documents))
    wanted, counted = numbers[known], np.array(list(pairs.values()), float)[known]
    rarities = inverse_document_frequencies(index.document_frequencies(wanted.ravel()), index.documents)
    weights = counted * rarities.reshape(-1, 2).mean(axis=1)
    counts, lengths = count_pairs(index.sequences(documents), wanted)
    average = max(index.average_length - 1, 1.0)
    values = impacts(counts, np.maximum(lengths - 1, 0)[:, None], average)
    return np.asarray(np.where(counts > 0, values, 0) @ weights, np.float64)


def count_pairs(sequences: Sequences, pairs: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each pair stands in each document, and how many words that are no stop words the document has.

    Parameters
    ----------
    sequences : Sequences
        Of k documents.
    pairs : (p, 2) array of int
        Term numbers, no pair twice.

    Returns
    -------
    counts : (k, p) array of int
    lengths : (k,) array of int

    Examples
    --------
    Stop words, which are negative, stand between no pair; the end of a document does.

    >>> two = Sequences(np.array([1, -9, 2, 1, 2, 1]), np.array([0, 5, 6]))
    >>> counts, lengths = count_pairs(two, np.array([[1, 2], [2, 1]]))
    >>> counts.tolist(), lengths.tolist()
    ([[2, 1], [0, 0]], [4, 1])
    """
    document_of = np.repeat(np.arange(sequences.bounds.size - 1), np.diff(sequences.bounds))
    is_word = sequences.items > 0
    items, document_of = sequences.items[is_word].astype(np.int64), document_of[is_word]
    lengths = np.bincount(document_of, minlength=sequences.bounds.size - 1)

    is_wanted = np.isin(items, pairs)  # few words are: the rest is left out before anything costlier
    places = np.flatnonzero(is_wanted[:-1] & is_wanted[1:] & (document_of[:-1] == document_of[1:]))
    base = int(pairs.max()) + 1
    keys = items[places] * base + items[places + 1]
    wanted = pairs[:, 0].astype(np.int64) * base + pairs[:, 1]
    order = np.argsort(wanted)
    found = np.minimum(np.searchsorted(wanted, keys, sorter=order), wanted.size - 1)
    pair_of = order[found]
    is_pair = wanted[pair_of] == keys
    counts = np.zeros((lengths.size, wanted.size), np.int64)
    np.add.at(counts, (document_of[places[is_pair]], pair_of[is_pair]), 1)
    return counts, lengths
