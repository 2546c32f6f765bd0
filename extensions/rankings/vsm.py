from collections.abc import Callable
from typing import Any

from apps.search.algorithms.models.index import Index
from apps.search.algorithms.models.query import Query
from apps.search.rankings import Answer, Model, gettext_noop
from extensions.algorithms import thesis


def by_thesis(weigh: Callable[[thesis.ThreeIndexes, Index, Query], thesis.Weights], label: str) -> Model:
    """The documents that these weights of terms retrieve last."""

    def answer(index: Index, indexes: Any, query: Query, count: int) -> Answer:
        weights = weigh(indexes, index, query)
        return thesis.answer(indexes, weights).first(count), weights

    return Model(label=label, answer=answer, prepare=thesis.three_indexes)


MODEL = by_thesis(thesis.query_weights, gettext_noop("Thesis: vector space"))
