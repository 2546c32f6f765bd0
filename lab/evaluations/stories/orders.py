"""How soon big stories are on top: our order of stories, newest first, and Yioop's."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.ranking import Story, ranked
from lab.evaluations.stories.stream import Arrival

SAMPLE_HOURS = 6.0  # between two samples of the front page
FROM, UNTIL = 8 * 24.0, 27 * 24.0
SHOWN, COUNTED = 10, 72.0  # stories; hours in which a story had a report that stands on the page
GAIN_HOURS = 12.0  # the gain of a story is its number of reports in this time


def front_pages(stream: Sequence[Arrival]) -> dict[str, float]:
    """The mean nDCG@10 of each order over all samples; a story's gain is its number of reports in the next 12 hours.

    Stories are the marked ones, so that only the order is measured.
    """
    totals: defaultdict[str, list[float]] = defaultdict(list)
    reports = [arrival for arrival in stream if arrival.story]
    numbers = {name: number for number, name in enumerate(sorted({each.publisher for each in reports}))}
    labels = {name: number for number, name in enumerate(sorted({each.story for each in reports}))}
    for now in np.arange(FROM, UNTIL, SAMPLE_HOURS):
        seen = [each for each in reports if now - COUNTED < each.hours <= now]
        latest: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for each in seen:
            latest[labels[each.story]][numbers[each.publisher]] = each.hours
        if len(latest) < 2:
            continue
        gains: defaultdict[int, float] = defaultdict(float)
        for each in reports:
            if now < each.hours <= now + GAIN_HOURS:
                gains[labels[each.story]] += 1.0
        if not any(gains[story] for story in latest):
            continue
        stories = [Story(story, times, next(iter(times))) for story, times in sorted(latest.items())]
        orders = {
            "ours": [place.id for place in ranked(stories, {}, now)],
            "newest": sorted(latest, key=lambda story: -max(latest[story].values())),
            "yioop": sorted(latest, key=lambda story: -sum(200 / max(now - at, 1) for at in latest[story].values())),
        }
        for name, order in orders.items():
            totals[name].append(ndcg(np.array([gains[story] for story in order])))
    return {name: float(np.mean(values)) for name, values in totals.items()}


def ndcg(gains: NDArray[np.float64]) -> float:
    """Discounted cumulative gain of the first ten, by that of the best order.

    >>> round(ndcg(np.array([0.0, 1.0])), 3)
    0.631
    """
    discounts = 1 / np.log2(np.arange(2, SHOWN + 2))
    best = -np.sort(-gains)[:SHOWN]
    return float((gains[:SHOWN] * discounts[: len(gains)]).sum() / (best * discounts[: len(best)]).sum())
