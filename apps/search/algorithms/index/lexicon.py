"""Compact storage of analysed postings: words as local numbers, mapped to those of the index at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.words import STOP_MARK
from apps.search.algorithms.index.reading import Reading

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Entry:
    """A reading with words as places in a lexicon."""

    language: str
    title_length: int
    sequence: Numbers
    pairs: Numbers
    names: Numbers


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The distinct words of readings. The empty one, which separates names, has place 0."""

    _places: dict[str, int] = field(default_factory=lambda: {"": 0})

    def enter(self, reading: Reading) -> Entry:
        """
        >>> lexicon = Lexicon()
        >>> entry = lexicon.enter(Reading("en", ["_the", "vote", "vote"], 2, [], ["", "author:sen"]))
        >>> entry.sequence.tolist(), entry.names.tolist(), lexicon.words
        ([1, 2, 2], [0, 3], ['_the', 'vote', 'author:sen'])
        """
        sequence, pairs, names = (self._placed(items) for items in (reading.sequence, reading.pairs, reading.names))
        return Entry(reading.language, reading.title_length, sequence, pairs, names)

    @property
    def words(self) -> list[str]:
        """All but the empty one."""
        return list(self._places)[1:]

    def numbered(self, number_of: Mapping[str, int]) -> Numbers:
        """The index's number at each word's place, 0 for the empty one, negative for stop words.

        >>> lexicon = Lexicon()
        >>> _ = lexicon.enter(Reading("en", ["_the", "vote"], 2, [], []))
        >>> lexicon.numbered({"_the": 7, "vote": 9}).tolist()
        [0, -7, 9]
        """
        numbers = [-number_of[word] if word[0] == STOP_MARK else number_of[word] for word in self.words]
        return np.array([0, *numbers], np.int32)

    def _placed(self, items: Iterable[str]) -> Numbers:
        places = self._places
        return np.array([places.setdefault(item, len(places)) for item in items], np.int32)


def packed(entry: Entry, numbers: Numbers) -> tuple[bytes, bytes, bytes]:
    """Sequence, pairs and names as stored, with the numbers of the entry's lexicon.

    >>> lexicon = Lexicon()
    >>> entry = lexicon.enter(Reading("en", ["_the", "vote"], 2, [], []))
    >>> packed(entry, lexicon.numbered({"_the": 7, "vote": 9}))[0].hex()
    'f9ffffff09000000'
    """
    parts = (entry.sequence, entry.pairs, entry.names)
    sequence, pairs, names = (numbers[places].astype("<i4", copy=False).tobytes() for places in parts)
    return sequence, pairs, names
