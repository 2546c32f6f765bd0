"""A week of postings whose stories are all active at once, to time one more posting."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from apps.stories.algorithms.features import Features, features
from apps.stories.algorithms.grouping import Grouping
from lab.evaluations.stories.stream import Labelled

HOURS = 6.5 * 24  # over which they come: none has expired at the end
TEXT = 120  # words of a text, of which a quarter are those of other reports of its story
VOCABULARY = 200_000
STORY = 40  # reports that stories have at most; half of all reports are the only ones of theirs


@dataclass(frozen=True, slots=True)
class Load:
    active: int  # postings in active stories
    stories: int
    ms_per_posting: float  # of the last tenth: features, copies, story, uniting and counting together
    ms_features: float  # of these, to read the words


def postings(reports: Sequence[Labelled], count: int, seed: int) -> Iterator[tuple[float, str, str]]:
    """Hours, title and text of each: real headlines with words of a made-up vocabulary, distributed as Zipf has it."""
    rng = np.random.default_rng(seed)
    titles = [report.title for report in reports]
    hours = np.sort(rng.uniform(0, HOURS, count))
    sizes = rng.integers(1, STORY, count)
    is_single = rng.random(count) < 0.5
    stories: list[tuple[str, list[str]]] = []
    for place in range(count):
        words = [f"w{number}" for number in (VOCABULARY ** rng.random(TEXT)).astype(int)]
        if is_single[place] or not stories or rng.random() < 1 / sizes[place]:
            title = f"{titles[rng.integers(len(titles))]} {words[-1]} {words[-2]}"
            stories.append((title, words))
        else:
            title, shared = stories[-1 - int(rng.integers(min(len(stories), 500)))]
            words = [*shared[: TEXT // 4], *words[TEXT // 4 :]]
        yield float(hours[place]), title, " ".join(words)


def timed(stream: Iterable[tuple[float, str, str]], count: int) -> Load:
    """Group `count` postings, and time the last tenth."""
    grouping = Grouping()
    arriving = iter(stream)
    timed_from = count - count // 10
    for key, (hours, title, text) in enumerate(islice(arriving, timed_from)):
        _place(grouping, key, hours, features(title, text, "en"))
    rest = list(arriving)
    start = time.process_time()
    found = [features(title, text, "en") for _, title, text in rest]
    read = time.process_time()
    for key, ((hours, _, _), each) in enumerate(zip(rest, found, strict=True), timed_from):
        _place(grouping, key, hours, each)
    placed = time.process_time()
    share = 1000 / len(rest)
    active = sum(grouping.clusters.get(id).size for id in grouping.clusters)
    return Load(active, len(grouping.clusters), (placed - start) * share, (read - start) * share)


def _place(grouping: Grouping, key: int, hours: float, found: Features) -> None:
    grouping.advance(hours)
    grouping.place(key, hours, found)
    grouping.settle()
    grouping.rarity.add(hours, found)
