"""Sentences as vectors of what they say: tf-idf, scaled to length 1."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

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

    def shares(self, terms: Sequence[str]) -> Floats:
        """(n_terms,) ``numdoc / totalnumdoc`` of each, from 0 to 1; 0 in an empty collection, which has no quotient."""
        return self._numbers(terms) / max(1, self.documents)

    def rarities(self, terms: Sequence[str]) -> Floats:
        """(n_terms,) ``ln((N + 1) / (numdoc + 1/2))``: always finite, above 0 even for a term of every document."""
        return np.log((self.documents + 1) / (self._numbers(terms) + 0.5))

    def _numbers(self, terms: Sequence[str]) -> Floats:
        found = np.fromiter(map(self.holding.get, terms, repeat(0)), np.float64, len(terms))
        return np.minimum(found, self.documents)


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


class Occurrences(NamedTuple):
    """Which terms stand in which sentences: one entry per occurrence."""

    sentences: int
    terms: tuple[str, ...]  # each once
    rows: NDArray[np.int64]  # (n_occurrences,) sentence
    columns: NDArray[np.int64]  # (n_occurrences,) index into `terms`

    def per_sentence(self, values: Floats) -> Floats:
        """(n_sentences,) The sum, over a sentence's occurrences, of the value of each of these."""
        return _sums(self.rows, values, self.sentences)


def _sums(places: NDArray[np.int64], values: Floats, count: int) -> Floats:
    """(count,) At each place the sum of its values."""
    return np.bincount(places, values, count).astype(np.float64, copy=False)


def occurrences(sentences: Sequence[Sequence[str]]) -> Occurrences:
    """The occurrences in sentences given as their terms.

    >>> found = occurrences([["sun", "moon", "sun"], []])
    >>> found.terms, found.rows.tolist(), found.columns.tolist()
    (('sun', 'moon'), [0, 0, 0], [0, 1, 0])
    """
    number_of: dict[str, int] = {}
    columns = [number_of.setdefault(term, len(number_of)) for terms in sentences for term in terms]
    rows = np.repeat(np.arange(len(sentences)), [len(terms) for terms in sentences])
    return Occurrences(len(sentences), tuple(number_of), rows, np.array(columns, np.int64))


class Vectors(NamedTuple):
    """Sparse rows; those of sentences without terms are empty. An entry may come in several parts that add up."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Floats
    shape: tuple[int, int]  # sentences, terms

    def total(self, rows: NDArray[np.bool_] | None = None) -> Floats:
        """(n_terms,) The sum of all rows, or of those that are marked."""
        values = self.values if rows is None else self.values * rows[self.rows]
        return _sums(self.columns, values, self.shape[1])

    def products(self, vector: Floats) -> Floats:
        """(n_sentences,) The inner product of each row with a vector of all terms."""
        return _sums(self.rows, self.values * vector[self.columns], self.shape[0])

    def row(self, number: int) -> Floats:
        """(n_terms,) One row."""
        chosen = self.rows == number
        return _sums(self.columns[chosen], self.values[chosen], self.shape[1])


def vectors(found: Occurrences, frequencies: Frequencies) -> Vectors:
    """Tf-idf of each sentence, ``tf * ln((N + 1) / (numdoc + 1/2))``, scaled to length 1.

    Examples
    --------
    >>> found = vectors(occurrences([["sun", "moon"], ["moon"], []]), Frequencies())
    >>> found.products(found.row(1)).round(3).tolist()
    [0.707, 1.0, 0.0]
    """
    shape = (found.sentences, len(found.terms))
    keys, times = np.unique(found.rows * shape[1] + found.columns, return_counts=True)
    rows, columns = np.divmod(keys, max(1, shape[1]))
    values = times * frequencies.rarities(found.terms)[columns]
    lengths = np.sqrt(np.bincount(rows, values**2, shape[0]))
    return Vectors(rows, columns, values / lengths[rows], shape)
