"""Many sources that something is to be decided of at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.dashboard.queries import SourceFilter, chosen_sources
from apps.retrieval.reports.source import EffectOnMany, effect_of_many
from apps.sources import queries as sources
from apps.sources.actions import MAX_AT_ONCE, Curation
from apps.sources.actions.curating import MAX_DELETED, MOST_WEIGHT, weight_times
from apps.sources.models import Source

MAX_NAMED = 50


@dataclass(frozen=True, slots=True)
class CuratingPage:
    ids: tuple[int, ...]
    named: tuple[Source, ...]  # the first of them, with `followers`
    categories: tuple[str, ...]  # that are known
    followers: int  # of those that are named
    too_many: bool
    most: int
    most_deleted: int

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def unnamed(self) -> int:
        return self.count - len(self.named)

    @property
    def chosen(self) -> str:
        """As one field of a form."""
        return ",".join(map(str, self.ids))

    @property
    def pair(self) -> tuple[Source, Source] | None:
        """Two sources may be merged."""
        return (self.named[0], self.named[1]) if len(self.named) == self.count == 2 else None


def found_ids(filter: SourceFilter) -> list[int]:
    """All sources that a list shows, up to one more than can be changed at once. One query."""
    return list(chosen_sources(filter).values_list("pk", flat=True)[: MAX_AT_ONCE + 1])


def curating_page(source_ids: Sequence[int]) -> CuratingPage:
    """Three queries; those that are not there any more are left out."""
    wanted = sources.everything().filter(pk__in=source_ids[:MAX_AT_ONCE])
    ids = list(wanted.order_by("title", "pk").values_list("pk", flat=True))
    named = tuple(chosen_sources(SourceFilter()).filter(pk__in=ids[:MAX_NAMED]))
    return CuratingPage(
        ids=tuple(ids),
        named=named,
        categories=tuple(sources.categories(sources.everything())),
        followers=sum(source.followers for source in named),  # type: ignore[attr-defined]
        too_many=len(source_ids) > MAX_AT_ONCE,
        most=MAX_AT_ONCE,
        most_deleted=MAX_DELETED,
    )


def effect_of_wish(source_ids: Sequence[int], wish: Curation, now: datetime) -> EffectOnMany | None:
    """What the weights that are wished would do; None where none are, or nothing can be said. Five queries."""
    if wish.weight is None and wish.factor is None:
        return None
    present = dict(Source.objects.filter(pk__in=source_ids).values_list("pk", "weight"))
    return effect_of_many({id: _weight(weight, wish) for id, weight in present.items()}, now)


def _weight(weight: float, wish: Curation) -> float:
    if wish.weight is not None:
        return wish.weight
    then = weight_times(weight, wish.factor or 0.0)
    return then if then <= MOST_WEIGHT else weight
