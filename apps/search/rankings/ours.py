from typing import Any

from apps.search.algorithms.models import recipe
from apps.search.algorithms.models.index import Index
from apps.search.algorithms.models.query import Query
from apps.search.rankings import Answer, Model


def answer(index: Index, _: Any, query: Query, count: int) -> Answer:
    found = recipe.search(index, query, count)
    added = {term.term: term.weight for term in found.expansion.added(query.terms)}
    return found.ranking, dict(zip(index.numbers(list(added)).tolist(), added.values(), strict=True))


MODEL = Model(label="Wirebeat", answer=answer)
