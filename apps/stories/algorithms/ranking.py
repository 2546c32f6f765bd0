"""The ranking of stories: a sum whose addends are shown as reasons."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

COVERAGE_HALF_LIFE = 4.0  # hours after which a source's report counts half for the story
FRESH_HALF_LIFE = 6.0  # hours after which a story's latest report counts half
COVERAGE, FRESHNESS, AUTHORITY, TASTE = 1.0, 1.0, 0.5, 0.8  # weights of the addends
SAME_CATEGORY, SAME_SOURCE = 0.12, 0.15  # penalty per higher story of the same kind
MAX_TAKEN = 0.6
CONSIDERED = 60  # best stories that are reordered for diversity
UNKNOWN = 0.5  # authority of an unknown source

FIRST, ORIGINAL, PICTURE = 0.3, 0.2, 0.2  # bonuses of a report within its story


class Story(NamedTuple):
    """The input of ranking. All times are hours since the same moment."""

    id: int
    latest: Mapping[int, float]  # latest report by source, at least one
    lead_source: int  # source of its lead
    category: str = ""
    taste: float = 0.0  # of a user for it, -1 to 1


class StoryRank(NamedTuple):
    """The addends of a story's score."""

    id: int
    coverage: float
    freshness: float
    authority: float
    taste: float
    diversity: float = 0.0  # never above 0

    @property
    def score(self) -> float:
        return self.coverage + self.freshness + self.authority + self.taste + self.diversity


def place(story: Story, authorities: Mapping[int, float], now: float) -> StoryRank:
    """The score of a story without diversity.

    coverage = ln(1 + sum over its sources of authority x 2^(-age / 4 h)); freshness = 2^(-age / 6 h) of its latest
    report; authority = half that of the source of its lead.

    >>> place(Story(1, {7: 4.0, 8: 8.0}, 7), {7: 1.0, 8: 0.5}, 8.0).coverage.__round__(3)
    0.693
    """
    covered = sum(
        authorities.get(source, UNKNOWN) * 2 ** (-max(now - hours, 0) / COVERAGE_HALF_LIFE)
        for source, hours in story.latest.items()
    )
    age = max(now - max(story.latest.values()), 0)
    return StoryRank(
        story.id,
        COVERAGE * math.log1p(covered),
        FRESHNESS * 2 ** (-age / FRESH_HALF_LIFE),
        AUTHORITY * authorities.get(story.lead_source, UNKNOWN),
        TASTE * story.taste,
    )


def ranked(stories: Sequence[Story], authorities: Mapping[int, float], now: float) -> list[StoryRank]:
    """The stories, best first; of equal ones the newer id.

    The sixty best are reordered greedily: each time the best is taken after a penalty for every one already taken of
    its category, and of its source.
    """
    by_id = {story.id: story for story in stories}
    waiting = sorted((place(story, authorities, now) for story in stories), key=lambda each: (-each.score, -each.id))
    waiting, rest = waiting[:CONSIDERED], waiting[CONSIDERED:]
    categories: dict[str, int] = {}
    sources: dict[int, int] = {}
    chosen = []
    while waiting:
        best = max(
            (_diverse(each, by_id[each.id], categories, sources) for each in waiting),
            key=lambda each: (each.score, each.id),
        )
        story = by_id[best.id]
        chosen.append(best)
        waiting = [each for each in waiting if each.id != best.id]
        sources[story.lead_source] = sources.get(story.lead_source, 0) + 1
        if story.category:
            categories[story.category] = categories.get(story.category, 0) + 1
    return chosen + rest


def _diverse(one: StoryRank, story: Story, categories: Mapping[str, int], sources: Mapping[int, int]) -> StoryRank:
    taken = SAME_CATEGORY * categories.get(story.category, 0) + SAME_SOURCE * sources.get(story.lead_source, 0)
    return one._replace(diversity=-min(taken, MAX_TAKEN))


def report_worth(authority: float, *, is_first: bool, is_original: bool, has_picture: bool) -> float:
    """The score of a report within its story: the best one becomes the lead."""
    return authority + FIRST * is_first + ORIGINAL * is_original + PICTURE * has_picture
