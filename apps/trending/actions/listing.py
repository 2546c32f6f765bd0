"""Lists of trends by language, category, and horizon from an hour to a year, by our score and Yioop's; their labels."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.database.advisory_locks import take
from apps.trending.actions.locks import LISTING
from apps.trending.actions.slicing import HOUR_SLICES_KEPT
from apps.trending.algorithms.choosing import MAX_RELATED
from apps.trending.algorithms.scoring import HORIZONS
from apps.trending.models import Trend
from apps.trending.queries.scored import Line, ScoreParameters, by_yioop, curves, risen
from apps.trending.queries.slices import active_places
from apps.trending.queries.spelling import spellings_of


def refresh(horizons: Collection[str], now: datetime) -> int:
    """Recompute the lists of these horizons for every language and category; returns their number.

    Each list is one transaction.
    """
    made = 0
    for language, category in active_places(now - HOUR_SLICES_KEPT):
        for horizon in horizons:
            list_terms(language, category, horizon, now)
            made += 1
    return made


@transaction.atomic
def list_terms(language: str, category: str, horizon: str, now: datetime) -> None:
    """Replace the two lists of a language, category and horizon."""
    take(LISTING, wait=True)
    spec = ScoreParameters(language, category, HORIZONS[horizon], now)
    for method, lines in ((Trend.Method.OURS, risen(spec)), (Trend.Method.YIOOP, by_yioop(spec))):
        former = Trend.objects.filter(language=language, category=category, horizon=horizon, method=method)
        known = {trend.number: trend for trend in former}
        former.delete()
        Trend.objects.bulk_create(_rows(spec, lines, known, method=method))


def _rows(spec: ScoreParameters, lines: Sequence[Line], former: Mapping[int, Trend], **values: Any) -> Iterator[Trend]:
    holding = {line.number: line.posting_ids for line in lines}
    for line in lines:
        holding |= {number: ids for number, ids in line.related.items() if number not in holding}
    names = spellings_of(holding)
    curve = curves(spec, [line.number for line in lines])
    known = [line for line in lines if line.number in names]
    for rank, line in enumerate(known, 1):
        columns = line._asdict() | {"related": [names[number] for number in line.related if number in names]}
        yield Trend(
            language=spec.language,
            category=spec.category,
            horizon=spec.horizon.name,
            rank=rank,
            term=names[line.number],
            curve=curve[line.number],
            listed_at=spec.now,
            **_kept(former.get(line.number), spec.now),
            **columns,
            **values,
        )


def _kept(former: Trend | None, now: datetime) -> dict[str, Any]:
    """What a term keeps while it is listed: since when, and the story behind it."""
    if former is None:
        return {"since": now}
    return {"since": former.since, "story_id": former.story_id, "label": former.label}


# --- the stories behind terms, which only the app of stories knows ----------------------------------------------------
NO_STORY: tuple[int | None, str] = (None, "")
SHARED = 2  # of a term's newest postings in a story that make it the story behind the term


class StoryLabel(NamedTuple):
    story_id: int
    label: str  # a headline that all users may read


@transaction.atomic
def label(stories: Mapping[int, StoryLabel]) -> int:
    """Label terms with their stories, given by posting; returns the number of labelled terms.

    A list keeps only the highest-ranked term of each story; the others become related to it. Idempotent.
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
