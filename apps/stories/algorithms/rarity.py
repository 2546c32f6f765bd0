"""How rare words are, and which are on the rise: counted over what came long enough ago to be no part of a story."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import BUCKETS, Features, Terms, Weights

BLOCK = 6.0  # hours that are counted together
LAG = 12.0  # hours: a word that a story has just brought up must not look common to it
MEMORY = 28 * 24.0  # hours that are counted
PRIOR = 50  # postings that are taken to have come before all others
BOOST_AT = 6.0  # standard deviations above the expected count at which a word counts twice
KNOWN = 500  # old postings of a language from which the boost is whole: before, what is common seems to rise
MIN_POSTINGS = 3  # postings with a word before it can be on the rise

_BLOCKS_KEPT = int(MEMORY // BLOCK)


@dataclass(slots=True)
class Block:
    """Postings, and postings with each term, of six hours or a part of them."""

    documents: dict[str, int] = field(default_factory=dict)  # by language
    counts: dict[int, int] = field(default_factory=dict)  # by term

    def add(self, language: str, terms: Terms) -> None:
        self.documents[language] = self.documents.get(language, 0) + 1
        for term in terms.tolist():
            self.counts[term] = self.counts.get(term, 0) + 1

    def merge(self, documents: Mapping[str, int], counts: Mapping[int, int]) -> None:
        for language, count in documents.items():
            self.documents[language] = self.documents.get(language, 0) + count
        for term, count in counts.items():
            self.counts[term] = self.counts.get(term, 0) + count


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
        self.of[features.terms] += 1  # each is there once
        self.documents[features.language] = self.documents.get(features.language, 0) + 1


class Rarity:
    """Counts of four weeks, in blocks of six hours.

    Blocks that ended twelve hours ago say how rare a word is; the later ones, which words come more often than they
    should. A block's number is its beginning, in six hours since 1970.
    """

    def __init__(self) -> None:
        self.blocks: dict[int, Block] = {}
        self._recent_from = -(1 << 40)  # the first block that counts as recent
        self._old, self._recent = _Counts(), _Counts()

    def advance(self, hours: float) -> None:
        """Let it be so many hours since 1970; it never becomes earlier."""
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
        """Count a posting; the number of its block, None if it is older than what is counted."""
        number = int(hours // BLOCK)
        if number < self._recent_from - _BLOCKS_KEPT:
            return None
        self.blocks.setdefault(number, Block()).add(features.language, features.terms)
        (self._old if number < self._recent_from else self._recent).add_one(features)
        return number

    def merge(self, number: int, block: Block) -> bool:
        """Add a block's counts to those of its number; False if it is older than what is counted."""
        if number < self._recent_from - _BLOCKS_KEPT:
            return False
        self.blocks.setdefault(number, Block()).merge(block.documents, block.counts)
        (self._old if number < self._recent_from else self._recent).add(block)
        return True

    def weights(self, features: Features, *, boost: bool = True, lagged: bool = True) -> Weights:
        """The weight of each term: emphasis x rarity x rise, of unit length together.

        rarity = ln((n + 51) / (df + 1.5) + 1) over postings of more than twelve hours ago; rise = 1 + min(1, D / 6) x
        min(1, n / 500).

        Parameters
        ----------
        features : Features
        boost : bool
            Whether words on the rise count more.
        lagged : bool
            Whether the latest postings are left out of the rarity.
        """
        terms, language = features.terms, features.language
        before: NDArray[np.int32] = self._old.of[terms]
        documents = self._old.documents.get(language, 0)
        if not lagged:
            before = before + self._recent.of[terms]
            documents += self._recent.documents.get(language, 0)
        rarity = np.log((documents + PRIOR + 1) / (before + 1.5) + 1)
        weights = features.emphasis.astype(np.float64) * rarity
        if boost:
            known = min(1.0, self._old.documents.get(language, 0) / KNOWN)
            weights = weights * (1 + known * np.minimum(1, self.rise(features) / BOOST_AT))
        return (weights / max(float(np.linalg.norm(weights)), 1e-9)).astype(np.float32)

    def rise(self, features: Features) -> NDArray[np.float64]:
        """D of each term: how far its recent count is above the expected one, in about standard deviations; at least 0.

        The signed root deviance of a Poisson count, sqrt(2 (a ln(a / E) - (a - E))); 0 where a < 3.
        """
        terms, language = features.terms, features.language
        seen = self._recent.of[terms].astype(np.float64)
        share = (self._old.of[terms] + 0.5) / (self._old.documents.get(language, 0) + PRIOR)
        expected = np.maximum(self._recent.documents.get(language, 0) * share, 0.5)
        rising = (seen >= MIN_POSTINGS) & (seen > expected)
        ratio = np.where(rising, seen / expected, 1.0)
        deviance = 2 * (seen * np.log(ratio) - (seen - expected))
        return np.where(rising, np.sqrt(np.maximum(deviance, 0.0)), 0.0)
