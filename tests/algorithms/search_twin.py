"""A simple index in memory with the interface for ranking models."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from apps.postings.algorithms.words import STOP_MARK, Words
from apps.search.algorithms.models.bm25 import impacts, packed
from apps.search.algorithms.models.index import Row, Sequences, Vectors


@dataclass
class MemoryBlock:
    first: int
    size: int
    all_rows: list[Row | None]
    mask: np.ndarray | None = None
    factor: np.ndarray | None = None

    def largest(self):
        tops = [0.0 if row is None else top(row) for row in self.all_rows]
        return np.array(tops)

    def rows(self):
        return self.all_rows

    def allowed(self, documents):
        return documents if self.mask is None else documents[self.mask[documents]]

    def factors(self):
        return self.factor

    def largest_factor(self):
        return 1.0 if self.factor is None else float(self.factor.max())


def top(row):
    value = row.impacts.max()
    return value / 255 * 2.2 if row.impacts.dtype == np.uint8 else float(value)


class MemoryIndex:
    """Documents given as `Words`; blocks of `block_size`; impacts packed into bytes or exact."""

    def __init__(self, documents: list[Words], *, block_size=65_536, pack=False, allowed=None, factors=None, sources=7):
        self.documents = len(documents)
        self.average_length = sum(len(words.terms) for words in documents) / max(len(documents), 1)
        self.block_size, self.mask, self.all_factors, self.sources = block_size, allowed, factors, sources
        self.number_of = {}
        self.counts = [Counter(words.terms) for words in documents]
        self.items = [
            [-self.number(item) if item[0] == STOP_MARK else self.number(item) for item in words.sequence]
            for words in documents
        ]
        held = {}
        for document, counts in enumerate(self.counts):
            for term, frequency in counts.items():
                held.setdefault(self.number(term), []).append((document, frequency))
        lengths = np.array([len(words.terms) for words in documents])
        self.rows_of = {}
        for number, postings in held.items():
            numbers, frequencies = np.array(postings).T
            values = impacts(frequencies, lengths[numbers], self.average_length)
            self.rows_of[number] = (numbers, packed(values) if pack else values)

    def number(self, term):
        return self.number_of.setdefault(term, len(self.number_of) + 1)

    def numbers(self, terms):
        return np.array([self.number_of.get(term, 0) for term in terms], np.int64)

    def names(self, numbers):
        known = list(self.number_of)
        return [known[number - 1] for number in numbers]

    def holders(self, term):
        return self.rows_of[self.number_of[term]][0].tolist()

    def document_frequencies(self, numbers):
        return np.array([len(self.rows_of[n][0]) if n in self.rows_of else 0 for n in numbers], np.int64)

    def blocks(self, numbers):
        for first in reversed(range(0, self.documents, self.block_size)):
            end = min(first + self.block_size, self.documents)
            yield MemoryBlock(
                first,
                end - first,
                [self.row(number, first, end) for number in numbers],
                None if self.mask is None else self.mask[first:end],
                None if self.all_factors is None else self.all_factors[first:end],
            )

    def row(self, number, first, end):
        if number not in self.rows_of:
            return None
        documents, values = self.rows_of[number]
        start, stop = np.searchsorted(documents, [first, end])
        return Row((documents[start:stop] - first).astype(np.uint16), values[start:stop]) if stop > start else None

    def vectors(self, documents):
        parts = [self.counts[document] for document in documents]
        return Vectors(
            np.array([self.number_of[term] for part in parts for term in part], np.int64),
            np.array([frequency for part in parts for frequency in part.values()], np.int64),
            np.cumsum([0, *map(len, parts)]),
            np.array([part.total() for part in parts], np.int64),
            np.asarray(documents) % self.sources,
        )

    def sequences(self, documents):
        parts = [self.items[document] for document in documents]
        return Sequences(
            np.array([item for part in parts for item in part], np.int64), np.cumsum([0, *map(len, parts)])
        )


def words_of(text):
    """Words separated by spaces, stop words already marked; without stemming and languages."""
    sequence = text.split()
    return Words([word for word in sequence if word[0] != STOP_MARK], sequence, [(0, 0)] * len(sequence))
