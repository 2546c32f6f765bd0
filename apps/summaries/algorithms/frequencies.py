"""Document frequencies: terms of most documents say little about a single one."""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Documents of one language, and how many of them hold each term; a term not listed is in none."""

    documents: int = 0
    holding: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "Frequencies") -> "Frequencies":
        holding = Counter(self.holding)
        holding.update(other.holding)
        return Frequencies(self.documents + other.documents, holding)

    def share(self, term: str) -> float:
        """``numdoc / totalnumdoc``, from 0 to 1; 0 in an empty collection, where the quotient has no value."""
        return float(self.shares([term])[0])

    def shares(self, terms: Sequence[str]) -> Floats:
        """(n_terms,) The share of each."""
        return self._numbers(terms) / max(1, self.documents)

    def rarities(self, terms: Sequence[str]) -> Floats:
        """(n_terms,) ``ln((N + 1) / (numdoc + 1/2))``: always finite, above 0 even for a term of every document."""
        return np.log((self.documents + 1) / (self._numbers(terms) + 0.5))

    def _numbers(self, terms: Sequence[str]) -> Floats:
        found = np.fromiter(map(self.holding.get, terms, repeat(0)), np.float64, len(terms))
        return np.minimum(found, self.documents)


class Tally:
    """Counts documents one by one, as they do not fit into memory together."""

    def __init__(self) -> None:
        self.documents = 0
        self._holding: Counter[str] = Counter()

    def add(self, terms: Iterable[str]) -> None:
        """Count a document, given as its terms, in any order, repeated or not."""
        self.documents += 1
        self._holding.update(set(terms))

    def frequencies(self) -> Frequencies:
        return Frequencies(self.documents, self._holding)


def pack(frequencies: Frequencies, max_terms: int) -> bytes:
    """The commonest `max_terms` terms, without those of a single document, as bytes for `unpack`.

    >>> unpack(pack(Frequencies(2, {"sun": 2, "moon": 1}), 1_000), 2).holding
    {'sun': 2}
    """
    common = {term: number for term, number in frequencies.holding.items() if number > 1}
    kept = sorted(common, key=lambda term: (-common[term], term))[:max_terms]
    return zlib.compress(json.dumps({term: common[term] for term in kept}, ensure_ascii=False).encode())


def unpack(packed: bytes, documents: int) -> Frequencies:
    """The frequencies that `pack` wrote."""
    return Frequencies(documents, json.loads(zlib.decompress(packed)))
