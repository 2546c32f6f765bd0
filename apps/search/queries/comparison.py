"""One query by the four models of the thesis, BM25, BM25 with RM3 and ours, on the same articles."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

import numpy as np
from django.db import OperationalError

from apps.accounts.models import User
from apps.search.algorithms.index import inversion
from apps.search.algorithms.index.conditions import Postings
from apps.search.algorithms.language import Tree, conditions
from apps.search.algorithms.models import recipe, thesis
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking
from apps.search.queries.analysis import languages_of, query_of
from apps.search.queries.limits import Limited
from apps.search.queries.resolving import condition_of
from apps.search.queries.searching import translated
from apps.search.queries.snapshot import Snapshot, snapshot

MAX_DOCUMENTS = 5_000  # the newest; the thesis holds its three indexes of them in memory
SHOWN = 10  # articles of each model, and at most as many added terms

Answer = tuple[Ranking, Sequence[str]]  # a ranking, and the added terms, heaviest first


class ModelAnswer(NamedTuple):
    name: str  # of the model, as evaluations have it
    postings: tuple[int, ...]
    shared: int  # of them that ours has, too
    added: tuple[str, ...]  # heaviest first
    milliseconds: float


class Comparison(NamedTuple):
    documents: int  # among which all models search
    reading_milliseconds: float  # of the thesis' indexes, which the other models do not need
    answers: tuple[ModelAnswer, ...]  # ours first; none for a query without words


def compare(user: User, tree: Tree, *, now: datetime) -> Comparison:
    """Answers to a query among the newest articles that a person can read and that meet the query's filters.

    Raises TooCostly after a statement timeout.
    """
    try:
        with snapshot() as index:
            return _compared(index, user, tree, now)
    except OperationalError as error:
        raise translated(error) from error


def _compared(index: Snapshot, user: User, tree: Tree, now: datetime) -> Comparison:
    languages = languages_of(index, tree)
    query = query_of(index, tree, languages)
    condition = condition_of(conditions(tree), user, languages=languages, now=now)
    found = index.restricted(Limited(condition)).newest(MAX_DOCUMENTS)
    if not found or not query:
        return Comparison(len(found), 0.0, ())
    started = time.perf_counter()
    documents = np.array([each.document for each in found])
    # With what sources repeat: the thesis leaves nothing out.
    indexes = thesis.three_indexes(lambda some: inversion.vectors(index.read(some), [0] * some.size), documents)
    reading = _milliseconds(started)
    narrowed = index.restricted(Postings(frozenset(each.posting_id for each in found)))
    posting_of = {each.document: each.posting_id for each in found}
    answers = list[ModelAnswer]()
    for name, model in _models(narrowed, indexes).items():
        started = time.perf_counter()
        ranking, added = model(query)
        postings = tuple(posting_of[document] for document in ranking.first(SHOWN).documents.tolist())
        ours = answers[0].postings if answers else postings
        answers.append(
            ModelAnswer(name, postings, len({*postings} & {*ours}), tuple(added[:SHOWN]), _milliseconds(started))
        )
    return Comparison(len(found), reading, tuple(answers))


def _milliseconds(started: float) -> float:
    return 1_000 * (time.perf_counter() - started)


def _models(index: Snapshot, indexes: thesis.ThreeIndexes) -> Mapping[str, Callable[[Query], Answer]]:
    return {
        "ours": partial(_ours, index),
        **{name: partial(_of_thesis, index, indexes, model) for name, model in thesis.MODELS.items()},
        "bm25": lambda query: (thesis.bm25(index, query, SHOWN), ()),
        "rm3": partial(_rm3, index),
    }


def _ours(index: Snapshot, query: Query) -> Answer:
    answer = recipe.search(index, query, SHOWN)
    return answer.ranking, [term.term for term in answer.expansion.added(query.terms)]


def _of_thesis(index: Snapshot, indexes: thesis.ThreeIndexes, model: thesis.Model, query: Query) -> Answer:
    weights = model(indexes, index, query)
    return thesis.answer(indexes, weights), _heaviest(index, weights, query.terms)


def _rm3(index: Snapshot, query: Query) -> Answer:
    numbers, weights = thesis.rm3_weights(index, query)
    added = _heaviest(index, dict(zip(numbers.tolist(), weights.tolist(), strict=True)), query.terms)
    return thesis.ranked(index, numbers, weights, SHOWN), added


def _heaviest(index: Snapshot, weights: thesis.Weights, own: Collection[str]) -> list[str]:
    """The terms that the query did not have, heaviest first."""
    numbers = sorted(weights, key=lambda number: (-weights[number], number))
    return [name for name in index.names(np.array(numbers, np.int64)) if name not in own]
