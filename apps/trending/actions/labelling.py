"""Labels of listed terms: the stories behind them, which only the app of stories knows."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from django.db import transaction

from apps.database.advisory_locks import take
from apps.trending.actions.locks import LISTING
from apps.trending.algorithms.choosing import MAX_RELATED
from apps.trending.models import Trend

NO_STORY: tuple[int | None, str] = (None, "")
SHARED = 2  # of a term's newest postings in a story that make it the story behind the term


class StoryLabel(NamedTuple):
    story_id: int
    label: str  # a headline that everybody may read


@transaction.atomic
def label(stories: Mapping[int, StoryLabel]) -> int:
    """Label terms with their stories, given by posting; returns the number of labelled terms.

    Of a story, a list keeps the highest term; the others become related to it. Idempotent.
    """
    take(LISTING, wait=True)
    kept: dict[tuple[str, str, str, int], Trend] = {}
    changed: set[Trend] = set()
    redundant: list[int] = []
    for trend in Trend.objects.filter(method=Trend.Method.OURS).order_by("rank"):
        story = _story_of(trend, stories) or NO_STORY
        if (trend.story_id, trend.label) != story:
            trend.story_id, trend.label = story
            changed.add(trend)
        if trend.story_id is None:
            continue
        first = kept.setdefault((trend.language, trend.category, trend.horizon, trend.story_id), trend)
        if first is not trend:
            first.related = list(dict.fromkeys([*first.related, trend.term]))[:MAX_RELATED]
            changed.add(first)
            redundant.append(trend.pk)
    Trend.objects.bulk_update(changed, ["story_id", "label", "related"])
    Trend.objects.filter(pk__in=redundant).delete()
    return len(kept)


def _story_of(trend: Trend, stories: Mapping[int, StoryLabel]) -> StoryLabel | None:
    """The story of most of the term's newest postings, if it has at least two of them."""
    counts = Counter(stories[id] for id in trend.posting_ids if id in stories)
    return next((story for story, count in counts.most_common(1) if count >= SHARED), None)
