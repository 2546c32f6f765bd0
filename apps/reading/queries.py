"""Which sources staff look at, and in which order."""

from dataclasses import dataclass

from django.db.models import F, QuerySet

from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.sources import queries as sources
from apps.sources.models import Source

SORTS = {
    "title": ("title", "pk"),
    "weight": ("-weight", "title", "pk"),
    "next": (F("schedule__due_at").asc(nulls_last=True), "pk"),
    "added": ("-added_at", "-pk"),
    "followers": ("-followers", "title", "pk"),
}


@dataclass(frozen=True, slots=True)
class SourceFilter:
    words: str = ""
    state: str = ""
    category: str = ""
    failing: bool = False
    sort: str = "title"


def chosen_sources(filter: SourceFilter) -> QuerySet[Source]:
    """The sources with `followers` and their schedules."""
    found = sources.matching(sources.everything(), filter.words)
    if filter.state:
        found = found.filter(state=filter.state)
    if filter.category:
        found = found.filter(category=filter.category)
    if filter.failing:
        found = found.filter(pk__in=retrieval.failing().values("pk"))
    return following.with_follower_counts(found).select_related("schedule").order_by(*SORTS[filter.sort])
