"""Our ranking: BM25, a bonus for pairs of neighbours, and sharp feedback from the best documents where it helps.

One set of parameters for all languages and collections.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import impacts, inverse_document_frequencies
from apps.search.algorithms.models.feedback import Expansion, expansion, sharpened
from apps.search.algorithms.models.index import UNKNOWN, Index, IntArray, Sequences
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import JUST_BELOW, Ranking, ranked, ranking


@dataclass(frozen=True)
class Recipe:
    """The parameters of the ranking."""

    documents: int = 20  # that feedback is taken from
    sharpness: float = 6.0  # power of a document's score in its share of the feedback
    terms: int = 50  # that feedback gives a weight; 0 for none
    postings: int = 500_000  # of them together, which bounds the cost of feedback in a large archive
    clear: float = 0.4  # fall of the scores from the first to the last of these documents, from which a query is clear
    feedback: float = 1.0  # length of the feedback beside a clear query of length 1
    doubtful: float = 0.35  # the same for another query
    rarity: float = 2.0  # mean idf of the query's terms below which there is no feedback: common ones add any word
    kept: float = 0.9  # share of the best score from which a document keeps its place before all that feedback finds
    against: float = 0.1  # weight subtracted for documents that a reader does not want
    pair_weight: float = 0.15
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

    A first pass ranks by BM25 with the pair bonus. Its best documents, each trusted by a sharp power of its score, or
    instead those that a reader wants, lend their terms to the query; a second pass ranks by that, behind the
    documents that the query's own words have put first. What the index does not allow takes no part in either pass;
    what a reader does not want is left out.

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
    length = _length(query)
    weights = {term: times / length for term, times in query.terms.items()}
    depth = max(count, recipe.pair_documents, recipe.documents) + len(judgement.unwanted)
    first = _pass(index, weights, query, recipe, depth)
    share = _feedback_share(index, query, first, recipe, judgement)
    words = _affordable(index, _feedback(index, first, recipe, judgement), query, recipe) if share else Expansion()
    if not words.terms:
        return RankedAnswer(_without(first, judgement.unwanted).first(count), words, weights)
    for term in words.terms:
        weights[term.term] = weights.get(term.term, 0.0) + share * term.weight
    # Added terms only raise scores: whatever is below the last of the first pass stays below `depth` documents.
    is_full = len(first) == depth > recipe.pair_documents and not judgement.unwanted
    least = JUST_BELOW * float(first.scores[-1]) if is_full else 0.0
    second = _pass(index, weights, query, recipe, depth, least)
    if not judgement.wanted and not judgement.unwanted:
        second = _behind_the_first(first, second, recipe)
    return RankedAnswer(_without(second, judgement.unwanted).first(count), words, weights)


def _feedback_share(index: Index, query: Query, first: Ranking, recipe: Recipe, judgement: Judgement) -> float:
    """The length of the feedback beside the query's, by how clear the query seems; in full where a reader judged."""
    if judgement.wanted or not recipe.terms or not len(first):
        return recipe.feedback
    rarities = inverse_document_frequencies(
        index.document_frequencies(index.numbers(list(query.terms))), index.documents
    )
    if rarities[rarities > 0].mean() < recipe.rarity:
        return 0.0
    scores = first.first(recipe.documents).scores
    return recipe.feedback if scores[-1] <= (1 - recipe.clear) * scores[0] else recipe.doubtful


def _behind_the_first(first: Ranking, second: Ranking, recipe: Recipe) -> Ranking:
    """The second ranking behind the documents that are nearly as good as the first by the query's own words."""
    if not len(second):
        return first
    head = first.first(recipe.documents)
    head = head.first(int((head.scores >= recipe.kept * head.scores[0]).sum()))
    rest = _without(second, head.documents)
    return Ranking(np.append(head.documents, rest.documents), np.append(head.scores + second.scores[0], rest.scores))


def _pass(
    index: Index, weights: Mapping[str, float], query: Query, recipe: Recipe, count: int, least: float = 0.0
) -> Ranking:
    found = ranked(index, index.numbers(list(weights)), np.array(list(weights.values())), count, least)
    bonus = np.zeros(len(found))
    head = found.documents[: recipe.pair_documents]
    bonus[: head.size] = recipe.pair_weight / _length(query) * pair_bonus(index, head, query.pairs)
    return ranking(found.documents, found.scores + bonus)


def _length(query: Query) -> float:
    return max(math.hypot(*query.terms.values()), 1e-9)


def _without(found: Ranking, documents: Collection[int]) -> Ranking:
    kept = ~np.isin(found.documents, list(documents))
    return Ranking(found.documents[kept], found.scores[kept])


def _feedback(index: Index, first: Ranking, recipe: Recipe, judgement: Judgement) -> Expansion:
    """Terms of the wanted documents, else of the best unjudged ones, less those of the unwanted ones."""
    wanted, unwanted = (np.array(sorted(numbers), np.int64) for numbers in (judgement.wanted, judgement.unwanted))
    is_open = ~np.isin(first.documents, np.append(wanted, unwanted))
    head = Ranking(first.documents[is_open], first.scores[is_open]).first(0 if wanted.size else recipe.documents)
    return expansion(
        index,
        np.concatenate([head.documents, wanted, unwanted]),
        np.concatenate(
            [
                sharpened(head.scores, recipe.sharpness),
                np.full(wanted.size, 1 / max(wanted.size, 1)),
                np.full(unwanted.size, -recipe.against / max(unwanted.size, 1)),
            ]
        ),
        recipe.terms,
        without=judgement.removed,
        trusted=wanted,
    )


def _affordable(index: Index, words: Expansion, query: Query, recipe: Recipe) -> Expansion:
    """The heaviest terms of feedback whose postings may be read; the weight of the others is not made up for."""
    frequencies = index.document_frequencies(index.numbers([term.term for term in words.terms])).tolist()
    room, kept = recipe.postings, []
    for term, documents in zip(words.terms, frequencies, strict=True):
        cost = 0 if term.term in query.terms else documents
        if cost <= room:
            room -= cost
            kept.append(term)
    return Expansion(tuple(kept))


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
