"""A month of news with known stories: real headlines, made-up times, and a daily background.

Collections of marked stories carry the times at which they were collected, a whole story within seconds, which would
identify stories by time alone. So the times are drawn at random, as stories come and fade.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DAYS = 28
HALF_LIVES = (4, 8, 16, 32)  # hours
EVERGREENS_A_DAY = 150
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EVERGREENS = (
    "{} stock market today", "{} weather forecast", "Business highlights for {}", "Your daily horoscope for {}",
    "{} morning briefing", "Currency markets on {}", "{} traffic report", "Gas prices on {}",
    "{} football fixtures", "Oil price on {}", "{} TV listings", "{} box office report", "{} police blotter",
    "Lottery numbers for {}", "Best deals for {}",
)  # fmt: skip
COLUMNS = (
    ("Monday night results and highlights", "Monday motivation: how to begin the week"),
    (),
    ("Wednesday wisdom from our readers",),
    ("Throwback Thursday: pictures from the archive", "Weekly jobless claims report"),
    ("Friday night scores from around the region", "Weekend preview: what to see and do"),
    ("Saturday sports roundup",),
    ("What was said on the Sunday talk shows", "Sunday crossword and puzzles"),
)  # of each day of the week, from Monday


@dataclass(frozen=True, slots=True)
class Labelled:
    """A report that people have put into a story."""

    title: str
    text: str
    publisher: str
    story: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A report in the stream. What is of no story has an empty one."""

    hours: float  # since the stream began, in [0, 672)
    title: str
    text: str
    publisher: str
    story: str


def arrivals(reports: Sequence[Labelled], seed: int, *, background: bool = True) -> list[Arrival]:
    """The stream of four weeks, in the order of time.

    A story begins at a time uniform in day 3 to day 27, has a half-life of 4, 8, 16 or 32 hours, and each of its
    reports comes Gamma(1.3, half-life / 1.1) hours after its beginning; most of what would come at night waits for the
    morning.

    Parameters
    ----------
    reports : sequence of Labelled
    seed : int
        Of the times and of the background.
    background : bool
        Whether titles that return every day or week are among them.

    Examples
    --------
    >>> stream = arrivals([Labelled("Storm floods Lisbon", "", "The Wire", "storm")], 1)
    >>> [round(each.hours) // 24 for each in stream if each.story], len(stream) > 4_000
    ([16], True)
    """
    rng = np.random.default_rng(seed)
    stream = [*_stories(reports, rng)]
    if background:
        usual = [name for name, _ in Counter(report.publisher for report in reports).most_common(60)]
        everybody = sorted({report.publisher for report in reports})
        stream += [*_evergreens(usual, rng), *_columns(everybody, rng)]
    return sorted((each for each in stream if each.hours < 24 * DAYS), key=lambda each: (each.hours, each.title))


def _stories(reports: Sequence[Labelled], rng: np.random.Generator) -> list[Arrival]:
    stream = []
    for story in sorted({report.story for report in reports}):
        onset = rng.uniform(3 * 24, 27 * 24)
        half_life = rng.choice(HALF_LIVES)
        for report in reports:
            if report.story == story:
                hours = _by_day(onset + rng.gamma(1.3, half_life / 1.1), rng)
                stream.append(Arrival(hours, report.title, report.text, report.publisher, story))
    return stream


def _by_day(hours: float, rng: np.random.Generator) -> float:
    if hours % 24 < 6 and rng.random() < 0.7:
        return hours - hours % 24 + 6 + rng.uniform(0, 3)
    return hours


def _evergreens(publishers: Sequence[str], rng: np.random.Generator) -> list[Arrival]:
    stream = []
    for day in range(DAYS):
        for _ in range(EVERGREENS_A_DAY):
            hours = 24 * day + 6 + abs(rng.normal(6, 4)) % 18
            title = EVERGREENS[int(rng.integers(len(EVERGREENS)))].format(WEEKDAYS[day % 7])
            stream.append(Arrival(hours, title, "", publishers[int(rng.integers(len(publishers)))], ""))
    return stream


def _columns(publishers: Sequence[str], rng: np.random.Generator) -> list[Arrival]:
    return [
        Arrival(24 * day + rng.uniform(7, 21), title, "", publishers[int(rng.integers(len(publishers)))], "")
        for day in range(DAYS)
        for title in COLUMNS[day % 7]
        for _ in range(rng.integers(8, 21))
    ]
