"""Stored lists."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Sum

from apps.trending.models import Trend


class ListRank(NamedTuple):
    """A language and category (empty for all) that have lists."""

    language: str
    category: str


def lists_of(
    language: str, category: str, method: str = Trend.Method.OURS, *, most: int = 100
) -> dict[str, list[Trend]]:
    """The first terms of a language's and category's lists by horizon, the shortest first; one query."""
    lists: dict[str, list[Trend]] = {horizon: [] for horizon in Trend.Horizon.values}
    found = Trend.objects.filter(language=language, category=category, method=method, rank__lte=most)
    for trend in found.order_by("rank"):
        lists[trend.horizon].append(trend)
    return lists


def listed_postings() -> set[int]:
    """The newest postings of the terms of our lists; one query."""
    listed = Trend.objects.filter(method=Trend.Method.OURS).values_list("posting_ids", flat=True)
    return {posting_id for posting_ids in listed for posting_id in posting_ids}


def ranks() -> Sequence[ListRank]:
    """Languages and categories with lists, the most frequent language first; one query."""
    counted = Trend.objects.filter(method=Trend.Method.OURS).values("language", "category")
    documents = {
        ListRank(row["language"], row["category"]): row["documents__sum"]
        for row in counted.annotate(Sum("documents")).order_by()
    }
    of_language: dict[str, int] = defaultdict(int)
    for place, count in documents.items():
        of_language[place.language] += count
    return sorted(documents, key=lambda place: (-of_language[place.language], place.language, place.category))
