"""One query by all models of ranking, on the same articles."""

import time
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from apps.accounts.models import User
from apps.search.algorithms.index import inversion
from apps.search.algorithms.index.conditions import Postings
from apps.search.algorithms.language import Tree, conditions
from apps.search.queries.analysis import languages_of, query_of
from apps.search.queries.limits import Limited
from apps.search.queries.resolving import condition_of
from apps.search.queries.snapshot import Snapshot, snapshot
from apps.search.rankings import all_models, prepared

MAX_DOCUMENTS = 5_000  # the newest; the thesis holds its three indexes of them in memory
SHOWN = 10  # articles of each model, and at most as many added terms


class ModelAnswer(NamedTuple):
    name: str  # of the model, as evaluations have it
    label: str
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
    with snapshot() as index:
        return _compared(index, user, tree, now)


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
    memory = prepared(lambda some: inversion.vectors(index.read(some), [0] * some.size), documents)
    reading = _milliseconds(started)
    narrowed = index.restricted(Postings(frozenset(each.posting_id for each in found)))
    posting_of = {each.document: each.posting_id for each in found}
    answers = list[ModelAnswer]()
    for name, model in all_models().items():
        started = time.perf_counter()
        ranking, weights = model.answer(narrowed, memory[model.prepare], query, SHOWN)
        added = _heaviest(narrowed, weights, query.terms)
        postings = tuple(posting_of[document] for document in ranking.first(SHOWN).documents.tolist())
        ours = answers[0].postings if answers else postings
        answers.append(
            ModelAnswer(name, model.label, postings, len({*postings} & {*ours}), added, _milliseconds(started))
        )
    return Comparison(len(found), reading, tuple(answers))


def _milliseconds(started: float) -> float:
    return 1_000 * (time.perf_counter() - started)


def _heaviest(index: Snapshot, weights: Mapping[int, float], own: Collection[str]) -> tuple[str, ...]:
    """Terms that the query did not have, heaviest first."""
    numbers = sorted(weights, key=lambda number: (-weights[number], number))
    return tuple(name for name in index.names(np.array(numbers, np.int64)) if name not in own)[:SHOWN]
