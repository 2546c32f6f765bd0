"""Models of ranking that are compared on one query, each a module of this package that defines `MODEL`, a `Model`.

Being in this package is all that registers it: the page *Compare search models* shows it. Models are pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from apps.database.registry import entries, gettext_noop
from apps.search.algorithms.models.index import Index, IntArray, Vectors
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.ranking import Ranking

OURS = "ours"

Answer = tuple[Ranking, Mapping[int, float]]  # documents, and by number the weights of the terms that found them
Prepare = Callable[[Callable[[IntArray], Vectors], IntArray], Any]


@dataclass(frozen=True, kw_only=True)
class Model:
    """The interface of a module: what varies between models."""

    label: str  # for people, marked with `gettext_noop`
    answer: Callable[[Index, Any, Query, int], Answer]  # the best documents for a query, with what `prepare` returned
    # What the model needs in memory: from a function that reads term frequencies of documents, and all documents.
    prepare: Prepare | None = None


@cache
def all_models() -> Mapping[str, Model]:
    """The models by their names; our own comes first."""
    found = dict(entries(__name__, "MODEL", group="wirebeat.rankings"))
    return {OURS: found[OURS]} | found


def prepared(read: Callable[[IntArray], Vectors], documents: IntArray) -> Mapping[Prepare | None, Any]:
    """What the models need in memory, by the function that makes it: models may share one."""
    makers = {model.prepare for model in all_models().values()}
    return {make: make(read, documents) if make else None for make in makers}
