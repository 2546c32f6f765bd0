from typing import Any

from apps.search.algorithms.models.index import Index
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import ranked
from apps.search.rankings import Answer, Model, gettext_noop
from extensions.algorithms.rm3 import rm3_weights


def answer(index: Index, _: Any, query: Query, count: int) -> Answer:
    numbers, weights = rm3_weights(index, query)
    return ranked(index, numbers, weights, count), dict(zip(numbers.tolist(), weights.tolist(), strict=True))


MODEL = Model(label=gettext_noop("BM25 with RM3"), answer=answer)
