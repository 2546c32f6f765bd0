"""Editing many sources at once."""

from collections.abc import Sequence
from datetime import datetime

from apps.dashboard.queries import SourceFilter, chosen_sources
from apps.retrieval.reports.source import EffectOnMany, effect_of_many
from apps.sources import queries as sources
from apps.sources.actions import MAX_AT_ONCE, Curation
from apps.sources.actions.curating import MAX_DELETED, MAX_WEIGHT, weight_times
from apps.sources.models import Source
from apps.web.pages import Context

MAX_NAMED = 50


def found_ids(filter: SourceFilter) -> list[int]:
    """All sources of a filter, up to one more than can be changed at once. One query."""
    return list(chosen_sources(filter).values_list("pk", flat=True)[: MAX_AT_ONCE + 1])


def curating_page(source_ids: Sequence[int]) -> Context:
    """Three queries; deleted sources are left out."""
    wanted = sources.everything().filter(pk__in=source_ids[:MAX_AT_ONCE])
    ids = list(wanted.order_by("title", "pk").values_list("pk", flat=True))
    named = tuple(chosen_sources(SourceFilter()).filter(pk__in=ids[:MAX_NAMED]))
    return {
        "ids": ids,
        "chosen": ",".join(map(str, ids)),  # as one form field
        "count": len(ids),
        "named": named,  # the first MAX_NAMED, with `followers`
        "unnamed": len(ids) - len(named),
        "pair": named if len(named) == len(ids) == 2 else None,  # could be merged
        "categories": sources.categories(sources.everything()),
        "followers": sum(source.followers for source in named),  # type: ignore[attr-defined]
        "too_many": len(source_ids) > MAX_AT_ONCE,
        "max_changed": MAX_AT_ONCE,
        "max_deleted": MAX_DELETED,
    }


def effect_of_curation(source_ids: Sequence[int], curation: Curation, now: datetime) -> EffectOnMany | None:
    """The predicted effect of new weights; None without new weights or a prediction. Five queries."""
    if curation.weight is None and curation.factor is None:
        return None
    present = dict(Source.objects.filter(pk__in=source_ids).values_list("pk", "weight"))
    return effect_of_many({id: _weight(weight, curation) for id, weight in present.items()}, now)


def _weight(weight: float, curation: Curation) -> float:
    if curation.weight is not None:
        return curation.weight
    then = weight_times(weight, curation.factor or 0.0)
    return then if then <= MAX_WEIGHT else weight
