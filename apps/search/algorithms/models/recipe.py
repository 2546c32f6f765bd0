"""Our ranking: BM25, sharp feedback from the best documents, and a bonus for pairs of neighbours.

One set of parameters for all languages and collections.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import impacts, inverse_document_frequencies
from apps.search.algorithms.models.feedback import Expansion, expansion, sharpened
from apps.search.algorithms.models.index import UNKNOWN, Block, Index, IntArray, Sequences
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking, best, held, ranking


@dataclass(frozen=True)
class Recipe:
    """The parameters of the ranking."""

    repetition: float = 8.0  # k3: how soon a term repeated in the query stops counting
    documents: int = 20  # that feedback is taken from
    sharpness: float = 6.0  # power of a document's score in its share of the feedback
    terms: int = 50  # that feedback gives a weight; 0 for none
    feedback: float = 1.0  # length of the feedback beside a query of length 1
    judged: float = 0.5  # share of the feedback that is taken from documents a reader wants
    against: float = 0.1  # that is taken back for documents a reader does not want
    pair_weight: float = 0.25
    pair_documents: int = 50  # best ones, in which pairs are counted


OURS = Recipe()
WITHOUT_FEEDBACK = Recipe(terms=0)


@dataclass(frozen=True)
class Judgement:
    """Relevance feedback of a reader."""

    wanted: Collection[int] = ()  # documents: "more like this"
    unwanted: Collection[int] = ()  # documents: "not this"
    removed: Collection[str] = ()  # terms of the expansion that the reader removed


@dataclass(frozen=True)
class RankedAnswer:
    """Documents for a query, and what was added to it."""

    ranking: Ranking
    expansion: Expansion
    weights: Mapping[str, float] = field(repr=False)  # of all terms in the last pass


def search(
    index: Index, query: Query, count: int, *, recipe: Recipe = OURS, judgement: Judgement | None = None
) -> RankedAnswer:
    """The best `count` documents for a query.

    A first pass ranks by BM25 with the pair bonus. Its best documents, each trusted by a sharp power of its score,
    together with those that a reader wants, lend their terms to the query; a second pass ranks by that. What the
    index does not allow takes no part in either pass; what a reader does not want is left out.

    Parameters
    ----------
    index : Index
    query : Query
    count : int
        At least 1.
    recipe : Recipe
    judgement : Judgement, optional
        Of a reader who has seen an answer to the same query.
    """
    judgement = judgement or Judgement()
    weights, length = _query_weights(query, recipe)
    pair_weight = recipe.pair_weight / max(length, 1e-9)
    depth = max(count, recipe.pair_documents, recipe.documents) + len(judgement.unwanted)
    first = _pass(index, weights, query, pair_weight, depth, recipe)
    words = _feedback(index, first, recipe, judgement)
    if not words.terms:
        return RankedAnswer(_without(first, judgement.unwanted).first(count), words, weights)
    for term in words.terms:
        weights[term.term] = weights.get(term.term, 0.0) + recipe.feedback * term.weight
    second = _pass(index, weights, query, pair_weight, depth, recipe)
    return RankedAnswer(_without(second, judgement.unwanted).first(count), words, weights)


def _query_weights(query: Query, recipe: Recipe) -> tuple[dict[str, float], float]:
    """Weights of joint length 1 for the query's terms, and the length they had."""
    k3 = recipe.repetition
    weights = {term: times * (k3 + 1) / (times + k3) for term, times in query.terms.items()}
    length = float(np.sqrt(sum(weight**2 for weight in weights.values())))
    return {term: weight / length for term, weight in weights.items()}, length


def _pass(
    index: Index, weights: Mapping[str, float], query: Query, pair_weight: float, count: int, recipe: Recipe
) -> Ranking:
    numbers = index.numbers(list(weights))
    rarities = inverse_document_frequencies(index.document_frequencies(numbers), index.documents)
    blocks = list(index.blocks(numbers))
    found = best(blocks, np.array(list(weights.values())) * rarities, count)
    places = _with_both(blocks, found.documents[: recipe.pair_documents], list(weights), query)
    bonus = np.zeros(len(found))
    bonus[places] = pair_weight * pair_bonus(index, found.documents[places], query.pairs)
    return ranking(found.documents, found.scores + bonus)


def _with_both(
    blocks: Sequence[Block], documents: NDArray[np.int64], terms: Sequence[str], query: Query
) -> NDArray[np.intp]:
    """Places of the documents that hold both words of a pair somewhere: the others need not be read."""
    place = {term: number for number, term in enumerate(terms)}
    pairs = [(place[first], place[second]) for first, second in query.pairs if first in place and second in place]
    paired = sorted({number for pair in pairs for number in pair})
    holds = held(blocks, documents, paired)
    both = np.zeros(documents.size, np.bool_)
    for first, second in pairs:
        both |= holds[:, paired.index(first)] & holds[:, paired.index(second)]
    return np.flatnonzero(both)


def _without(found: Ranking, documents: Collection[int]) -> Ranking:
    kept = ~np.isin(found.documents, list(documents))
    return Ranking(found.documents[kept], found.scores[kept])


def _feedback(index: Index, first: Ranking, recipe: Recipe, judgement: Judgement) -> Expansion:
    """Terms of the best unjudged documents and of the wanted ones, less those of the unwanted ones."""
    wanted, unwanted = (np.array(sorted(numbers), np.int64) for numbers in (judgement.wanted, judgement.unwanted))
    is_open = ~np.isin(first.documents, np.append(wanted, unwanted))
    head = Ranking(first.documents[is_open], first.scores[is_open]).first(recipe.documents)
    guessed = 1 - recipe.judged if wanted.size else 1.0
    return expansion(
        index,
        np.concatenate([head.documents, wanted, unwanted]),
        np.concatenate(
            [
                guessed * sharpened(head.scores, recipe.sharpness),
                np.full(wanted.size, recipe.judged / max(wanted.size, 1)),
                np.full(unwanted.size, -recipe.against / max(unwanted.size, 1)),
            ]
        ),
        recipe.terms,
        without=judgement.removed,
    )


# --- a bonus for documents in which words of the query stand next to each other ---------------------------------------
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
