"""Our ranking: BM25, sharp feedback from the best documents, and a bonus for pairs of neighbours.

One set of parameters for all languages and collections.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import inverse_document_frequencies
from apps.search.algorithms.models.feedback import Expansion, expansion, sharpened
from apps.search.algorithms.models.index import Block, Index
from apps.search.algorithms.models.pairs import pair_bonus
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
