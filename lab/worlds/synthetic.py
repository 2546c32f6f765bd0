"""Made-up feeds: publication times from a random profile, texts from word lists, all fixed by a seed."""

import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from lab.worlds.feed import Feed, Text
from lab.worlds.vocabulary import CATEGORIES, SHARES, VOCABULARIES, Vocabulary

HOUR = 3600.0  # seconds
WEEK = 168  # hours
MAX_SOURCES = 200_000
MEDIAN_RATE = 1.0  # postings per day
SPREAD_OF_RATES = 1.3  # standard deviation of the natural logarithm of the rate
MAX_RATE = 200.0  # postings per day
EVENTS = 8  # things that happen on one day and that several sources of a language report
NAMES = ("town", "suburb", "venue", "firm", "person", "critic")  # of what an event is about
SHARE_OF_EVENTS = 0.4  # of the postings report one of these
SENTENCES_OF_AN_EVENT = 8  # few of those of a vocabulary, so that unrelated events share few words
MIN_SENTENCES, MAX_SENTENCES = 4, 7  # of these in a report; with all of them, too many would be copies


def make_feeds(sources: int, *, seed: int, begin: float, end: float) -> list[Feed]:
    """`sources` feeds with the postings of [begin, end), seconds since 1970, the same for the same arguments.

    Rates are log-normal; every source has its own hour of the day at which it publishes most, and rests at
    weekends. Texts are composed only when read.

    Raises ValueError if `sources` is out of bounds or the time span is empty.

    >>> feeds = make_feeds(3, seed=1, begin=0.0, end=7 * 86400.0)
    >>> [feed.number for feed in feeds]
    [1, 2, 3]
    >>> all(len(feed.texts) == len(feed.times) for feed in feeds)
    True
    """
    if not 1 <= sources <= MAX_SOURCES:
        raise ValueError(f"the number of sources must lie between 1 and {MAX_SOURCES}, not {sources}")
    if not begin < end:
        raise ValueError(f"the time span is empty: {begin} to {end}")
    return [_make_feed(number, seed, begin, end) for number in range(1, sources + 1)]


def make_steady_feeds(sources: int, *, seed: int, times: Sequence[float]) -> list[Feed]:
    """`sources` feeds that all publish at the same `times`, seconds since 1970; the same for the same arguments.

    >>> [feed.count_until(5.0) for feed in make_steady_feeds(2, seed=1, times=[0.0, 5.0, 9.0])]
    [2, 2]
    """
    return [_make_steady_feed(number, seed, array("d", times)) for number in range(1, sources + 1)]


def weekly_profile(peak: float) -> NDArray[np.float64]:
    """Relative rate of each hour of a week that starts on Monday 0:00 UTC, mean 1.

    `peak` is the hour of the day, 0..24, at which most is published.

    >>> profile = weekly_profile(12.0)
    >>> profile.shape, round(float(profile.mean()), 9), int(profile[:24].argmax())
    ((168,), 1.0, 12)
    """
    hours = np.arange(WEEK)
    daily = 1 + 0.9 * np.cos(2 * np.pi * (hours % 24 - peak) / 24)
    weekly = np.where(hours >= 5 * 24, 0.45, 1.0)
    profile = daily * weekly
    return np.asarray(profile / profile.mean(), dtype=np.float64)


def compose(seed: int, source: int, posting: int, time: float, vocabulary: Vocabulary) -> Text:
    """The text of one posting: a headline and two to four paragraphs.

    Some postings of a day, of all sources of a language, report the same few events: with the same names and figures,
    another choice and order of the same sentences, and another verb.

    >>> from lab.worlds.vocabulary import ENGLISH
    >>> compose(1, 2, 3, 0.0, ENGLISH) == compose(1, 2, 3, 0.0, ENGLISH)
    True
    """
    draw = random.Random(f"{seed} {source} {posting}")
    if draw.random() < SHARE_OF_EVENTS:
        event = random.Random(f"{seed} {vocabulary.language} {time // 86400} {draw.randrange(EVENTS)}")
    else:
        event = draw
    names = {name: _name(event, vocabulary) for name in NAMES}
    words = names | {
        "object": event.choice(vocabulary.objects).format(**names),
        "verb": draw.choice(vocabulary.verbs),
    }
    headline = vocabulary.headline.format(**words)
    opening = vocabulary.sentences[0].format(**words)
    known = _sentences(event, vocabulary, words)
    reported = draw.sample(known, draw.randint(MIN_SENTENCES, MAX_SENTENCES))
    paragraphs = [vocabulary.joint.join(part) for part in _divide(draw, [opening, *reported])]
    return Text(headline[0].upper() + headline[1:], tuple(paragraphs))


def _sentences(event: random.Random, vocabulary: Vocabulary, words: dict[str, str]) -> list[str]:
    """What is known of an event; each sentence has figures of its own, on which all reports agree."""
    chosen = event.sample(vocabulary.sentences[1:], SENTENCES_OF_AN_EVENT)
    return [
        sentence.format(**words, number=event.randint(3, 90) * 10, small=event.randint(2, 12)) for sentence in chosen
    ]


def _divide(draw: random.Random, sentences: list[str]) -> list[list[str]]:
    """Two to four paragraphs, the first of at least two sentences: the opening alone would only repeat the headline."""
    ends = sorted(draw.sample(range(2, len(sentences)), draw.randint(1, 3)))
    return [sentences[start:end] for start, end in pairwise([0, *ends, len(sentences)])]


def _name(event: random.Random, vocabulary: Vocabulary) -> str:
    """A made-up name of one or more words, which hardly any other event has."""
    words = ("".join(event.choices(vocabulary.syllables, k=count)) for count in vocabulary.syllables_of_a_name)
    return " ".join(word.capitalize() for word in words)


@dataclass(frozen=True, slots=True)
class ComposedTexts(Sequence[Text]):
    """The texts of a feed, composed whenever one is read."""

    seed: int
    source: int
    times: Sequence[float]
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, position: int) -> Text: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Text]: ...
    def __getitem__(self, position: int | slice) -> Text | Sequence[Text]:
        if isinstance(position, slice):
            return [self[single] for single in range(len(self))[position]]
        posting = range(len(self))[position]
        return compose(self.seed, self.source, posting, self.times[posting], self.vocabulary)


def _make_feed(number: int, seed: int, begin: float, end: float) -> Feed:
    generator = np.random.default_rng([seed, number])
    vocabulary = VOCABULARIES[int(generator.choice(len(VOCABULARIES), p=SHARES))]
    rate = min(MAX_RATE, MEDIAN_RATE * float(np.exp(SPREAD_OF_RATES * generator.standard_normal())))
    peak = float(generator.normal(11.0, 3.0)) % 24
    times = array("d", _draw_times(generator, rate, weekly_profile(peak), begin, end).tolist())
    return _name_feed(number, seed, generator, vocabulary, times)


def _make_steady_feed(number: int, seed: int, times: Sequence[float]) -> Feed:
    generator = np.random.default_rng([seed, number])
    vocabulary = VOCABULARIES[int(generator.choice(len(VOCABULARIES), p=SHARES))]
    return _name_feed(number, seed, generator, vocabulary, times)


def _name_feed(
    number: int, seed: int, generator: np.random.Generator, vocabulary: Vocabulary, times: Sequence[float]
) -> Feed:
    name = vocabulary.names[int(generator.integers(len(vocabulary.names)))]
    place = vocabulary.places[int(generator.integers(len(vocabulary.places)))]
    return Feed(
        number=number,
        title=f"{name} {place} {number}" if vocabulary.language != "en" else f"{place} {name} {number}",
        language=vocabulary.language,
        category=CATEGORIES[int(generator.integers(len(CATEGORIES)))],
        times=times,
        texts=ComposedTexts(seed, number, times, vocabulary),
    )


def _draw_times(
    generator: np.random.Generator, rate: float, profile: NDArray[np.float64], begin: float, end: float
) -> NDArray[np.float64]:
    """A Poisson process whose rate (postings per day) is constant within each hour."""
    hours = np.arange(begin // HOUR, np.ceil(end / HOUR))
    monday = 4 * 24  # the first Monday after 1970-01-01, in hours
    expected = rate / 24 * profile[((hours - monday) % WEEK).astype(np.intp)]
    starts = np.repeat(hours * HOUR, generator.poisson(expected))
    times = np.sort(starts + generator.random(starts.size) * HOUR)
    return times[(times >= begin) & (times < end)]
