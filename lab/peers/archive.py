"""Texts of a year before the comparison, the same for every reader."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from lab.peers.sites import Site
from lab.worlds.synthetic import compose
from lab.worlds.vocabulary import ENGLISH, VOCABULARIES

YEAR = 365 * 86_400.0  # s
FIRST = 1_000_000  # position of the oldest in its feed: the feeds never show these
SHORTEST_WORD = 6  # letters, of a search
WORDS = 60_000  # that names are drawn from; the n-th is as frequent as 1 / n, as in natural text
NAMES = 25  # in each posting; the vocabularies alone are so small that every search would find a fifth of the archive
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_BY_LANGUAGE = {vocabulary.language: vocabulary for vocabulary in VOCABULARIES}


@dataclass(frozen=True, slots=True)
class Archived:
    site: Site
    position: int
    title: str
    paragraphs: tuple[str, ...]
    published: datetime

    @property
    def html(self) -> str:
        return "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in self.paragraphs)

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True, slots=True)
class Archive:
    """Postings of all feeds in turn, oldest first, each composed when it is read."""

    sites: Sequence[Site]
    count: int
    seed: int
    end: float  # seconds since 1970

    def __len__(self) -> int:
        return self.count

    def posting(self, place: int) -> Archived:
        """The posting at a place; the oldest has 0."""
        site, position = self.sites[place % len(self.sites)], FIRST + place
        time = self.end - YEAR * (1 - place / self.count)
        text = compose(self.seed, site.number, position, time, _BY_LANGUAGE.get(site.feed.language, ENGLISH))
        paragraphs = (*text.paragraphs, _names(random.Random(f"{self.seed} {position}")))
        return Archived(site, position, text.title, paragraphs, datetime.fromtimestamp(time, UTC))

    def parts(self, size: int) -> Iterator[list[Archived]]:
        for first in range(0, self.count, size):
            yield [self.posting(place) for place in range(first, min(first + size, self.count))]

    def draw_words(self, count: int, queries: int) -> list[str]:
        """Searches of so many words that at least one English posting has together."""
        draw = random.Random(f"{self.seed} words {count}")
        english = [place for place, site in enumerate(self.sites) if site.feed.language == "en"]
        if not english:
            raise ValueError("no feed is English")
        drawn: list[str] = []
        while len(drawn) < queries:
            place = draw.randrange(self.count // len(self.sites)) * len(self.sites) + draw.choice(english)
            spelled = {word.strip(".,:;").lower() for word in self.posting(place).text.split()}
            words = sorted(word for word in spelled if word.isascii() and word.isalpha() and len(word) >= SHORTEST_WORD)
            if len(words) >= count:
                drawn.append(" ".join(draw.sample(words, count)))
        return drawn


def _names(draw: random.Random) -> str:
    return " ".join(_spelled(int(WORDS ** draw.random())).capitalize() for _ in range(NAMES)) + "."


def _spelled(number: int) -> str:
    """A word for every number from 0 on.

    >>> _spelled(1), _spelled(60_000)
    ('bebaba', 'fagifi')
    """
    syllables = []
    for _ in range(3):
        number, place = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "".join(syllables)
