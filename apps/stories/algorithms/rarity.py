"""How rare terms are, counted over postings too old for a current story, and which terms are rising."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import BUCKETS, Features, Terms, Weights

DOCUMENTS = 20_000  # postings that a language counts as
TABLE = Path(__file__).with_name("news-2023.npz")


def news_counts(language: str, terms: Terms) -> tuple[int, NDArray[np.float64]]:
    """The number of postings a language counts as, 0 if it is not in the table, and those with each of the terms.

    >>> from apps.stories.algorithms.features import bucket_of
    >>> documents, (year, volcano) = news_counts("en", np.array([bucket_of("year", "en"), bucket_of("volcano", "en")]))
    >>> documents, bool(year > 50 * volcano)
    (20000, True)
    >>> news_counts("tlh", np.array([5]))
    (0, array([0.]))
    """
    counts = _tables().get(language)
    return (0, np.zeros(len(terms))) if counts is None else (DOCUMENTS, counts[terms].astype(np.float64))


@cache
def _tables() -> dict[str, NDArray[np.float32]]:
    found = {}
    with np.load(TABLE) as stored:
        for name in stored:
            language, _, kind = name.partition("_")
            if kind == "terms":
                counts = found[language] = np.zeros(BUCKETS, np.float32)
                counts[stored[name]] = stored[f"{language}_counts"] * (DOCUMENTS / stored[f"{language}_documents"])
    return found


BLOCK = 6.0  # hours
LAG = 12.0  # hours: a story's new terms must not count as common for it
MEMORY = 28 * 24.0  # hours
PRIOR = 50  # postings that are assumed before all others
BOOST_AT = 6.0  # standard deviations above the expected count at which a term's weight doubles
KNOWN = 500  # old postings of a language from which the boost is full: with fewer, common terms seem to rise
MIN_POSTINGS = 3  # postings with a term before it can rise
HEAVIEST = 0.5  # part of a posting's length that one term has at most: one common word does not make a story

_BLOCKS_KEPT = int(MEMORY // BLOCK)


@dataclass(slots=True)
class Block:
    """Numbers of postings, and of postings with each term, in six hours or a part of them."""

    documents: dict[str, int] = field(default_factory=dict)  # by language
    counts: Counter[int] = field(default_factory=Counter)  # by term

    def add(self, language: str, terms: Terms) -> None:
        self.documents[language] = self.documents.get(language, 0) + 1
        self.counts.update(terms.tolist())

    def merge(self, documents: Mapping[str, int], counts: Mapping[int, int]) -> None:
        for language, count in documents.items():
            self.documents[language] = self.documents.get(language, 0) + count
        self.counts.update(counts)


class _Counts:
    """Sums of blocks."""

    def __init__(self) -> None:
        self.of = np.zeros(BUCKETS, np.int32)
        self.documents: dict[str, int] = {}

    def add(self, block: Block, sign: int = 1) -> None:
        size = len(block.counts)
        self.of[np.fromiter(block.counts, np.int64, size)] += sign * np.fromiter(block.counts.values(), np.int32, size)
        for language, count in block.documents.items():
            self.documents[language] = self.documents.get(language, 0) + sign * count

    def add_one(self, features: Features) -> None:
        self.of[features.terms] += 1  # terms are distinct
        self.documents[features.language] = self.documents.get(features.language, 0) + 1


class Rarity:
    """Counts of four weeks in blocks of six hours.

    Blocks that ended at least twelve hours ago define rarity; the later ones show which terms rise. Blocks are numbered
    from 1970.
    """

    def __init__(self) -> None:
        self.blocks: dict[int, Block] = {}
        self._recent_from = -(1 << 40)  # the first block that counts as recent
        self._old, self._recent = _Counts(), _Counts()

    def advance(self, hours: float) -> None:
        """Advance the clock to `hours` since 1970; it never goes back."""
        recent_from = int((hours - LAG) // BLOCK)
        if recent_from <= self._recent_from:
            return
        for number in sorted(self.blocks):
            block = self.blocks[number]
            if self._recent_from <= number < recent_from:
                self._recent.add(block, -1)
                self._old.add(block)
            if number < recent_from - _BLOCKS_KEPT:
                self._old.add(block, -1)
                del self.blocks[number]
        self._recent_from = recent_from

    def add(self, hours: float, features: Features) -> int | None:
        """Count a posting; returns the number of its block, or None if that is too old."""
        number = int(hours // BLOCK)
        if number < self._recent_from - _BLOCKS_KEPT:
            return None
        self.blocks.setdefault(number, Block()).add(features.language, features.terms)
        (self._old if number < self._recent_from else self._recent).add_one(features)
        return number

    def merge(self, number: int, block: Block) -> bool:
        """Add the counts of a block; False if it is too old."""
        if number < self._recent_from - _BLOCKS_KEPT:
            return False
        self.blocks.setdefault(number, Block()).merge(block.documents, block.counts)
        (self._old if number < self._recent_from else self._recent).add(block)
        return True

    def weights(self, features: Features, *, boost: bool = True, lagged: bool = True, general: bool = True) -> Weights:
        """The weight of each term: emphasis x rarity x rise, of unit length together, and at most about one half each.

        rarity = ln((n + 51) / (df + 1.5) + 1) over general news and postings of more than twelve hours ago; rise = 1 +
        min(1, D / 6) x h, with h = min(1, n / 500) of the old postings. Without history the recent ones count as 1 - h.

        Parameters
        ----------
        features : Features
        boost : bool
            Whether rising terms count more.
        lagged : bool
            Whether the latest postings are left out of the rarity.
        general : bool
            Whether general news counts.
        """
        terms, language = features.terms, features.language
        old, recent = (counts.documents.get(language, 0) for counts in (self._old, self._recent))
        history = min(1.0, old / KNOWN)
        counted = 1 - history if lagged else 1.0
        assumed, documents = news_counts(language if general else "", terms)
        documents = documents + self._old.of[terms] + counted * self._recent.of[terms]
        rarity = np.log((assumed + old + counted * recent + PRIOR + 1) / (documents + 1.5) + 1)
        weights = features.emphasis.astype(np.float64) * rarity
        if boost:
            weights = weights * (1 + history * np.minimum(1, self.rise(features) / BOOST_AT))
        return _unit(np.minimum(_unit(weights), HEAVIEST)).astype(np.float32)

    def rise(self, features: Features) -> NDArray[np.float64]:
        """D of each term: the excess of its recent count over the expected one, in about standard deviations.

        The signed root deviance of a Poisson count, sqrt(2 (a ln(a / E) - (a - E))); at least 0, and 0 for a < 3.
        """
        terms, language = features.terms, features.language
        seen = self._recent.of[terms].astype(np.float64)
        share = (self._old.of[terms] + 0.5) / (self._old.documents.get(language, 0) + PRIOR)
        expected = np.maximum(self._recent.documents.get(language, 0) * share, 0.5)
        rising = (seen >= MIN_POSTINGS) & (seen > expected)
        ratio = np.where(rising, seen / expected, 1.0)
        deviance = 2 * (seen * np.log(ratio) - (seen - expected))
        return np.where(rising, np.sqrt(np.maximum(deviance, 0.0)), 0.0)


def _unit(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights / max(float(np.linalg.norm(weights)), 1e-9)
