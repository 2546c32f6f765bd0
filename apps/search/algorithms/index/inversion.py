"""Documents as numbers, and their inversion: for each term, the documents with it."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.search.algorithms.models.bm25 import TITLE, impacts, packed
from apps.search.algorithms.models.index import Row, Sequences, Vectors, distinct

MAX_FREQUENT = 255  # of a term in a document

IntArray = NDArray[np.int64]


class Attributes(NamedTuple):
    """Attributes of the documents of a block, one value each."""

    posting_ids: NDArray[np.int64]
    source_ids: NDArray[np.int64]
    published: NDArray[np.int64]  # microseconds since 1970
    languages: NDArray[np.bytes_]

    def of(self, at: NDArray[np.integer]) -> "Attributes":
        return Attributes(self.posting_ids[at], self.source_ids[at], self.published[at], self.languages[at])


@dataclass(frozen=True, slots=True)
class Document:
    """A version of a posting as numbers of terms, from 1 on."""

    sequence: NDArray[np.int32]  # words in their order, stop words negative
    title_length: int  # items of the sequence from the title
    pairs: NDArray[np.int32]  # terms that are no words of the sequence: pairs of characters
    names: NDArray[np.int32]  # words of its author and of its categories, each name after a 0

    @property
    def terms(self) -> NDArray[np.int32]:
        """Terms with repetition, without stop words and names."""
        return np.concatenate((self.sequence[self.sequence > 0], self.pairs))

    @property
    def title(self) -> NDArray[np.int32]:
        """The beginning of the sequence that is its title."""
        return self.sequence[: self.title_length]

    @property
    def length(self) -> int:
        """Its number of terms as they count, those of the title several times."""
        words, of_title = np.count_nonzero(self.sequence > 0), np.count_nonzero(self.title > 0)
        return int(words + (TITLE - 1) * of_title) + self.pairs.size

    def without(self, terms: Mapping[int, int]) -> "Document":
        """The document with so many fewer of each term, the last ones being left out.

        >>> one = Document(np.array([7, -3, 7, 5]), 1, np.array([7]), np.array([], int))
        >>> one.without({7: 2}).terms.tolist()
        [7, 5]
        """
        if not terms:
            return self
        left = dict(terms)
        pairs, sequence = _fewer(self.pairs, left), _fewer(self.sequence, left)
        return replace(self, sequence=sequence, pairs=pairs)


def _fewer(items: NDArray[np.int32], left: dict[int, int]) -> NDArray[np.int32]:
    kept = np.ones(items.size, np.bool_)
    for place in np.flatnonzero(np.isin(items, list(left)))[::-1].tolist():
        term = int(items[place])
        kept[place] = left[term] <= 0
        left[term] -= 1
    return items[kept]


def holders(documents: Sequence[Document]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The terms of documents, ascending, with their document frequencies.

    >>> some = np.array([3, -4, 3], np.int32), 1, np.array([], np.int32), np.array([0, 9], np.int32)
    >>> terms, counts = holders([Document(*some), Document(some[0], *some[1:3], some[2])])
    >>> terms.tolist(), counts.tolist()
    ([3, 4, 9], [2, 2, 1])
    """
    if not documents:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    parts = [np.concatenate((np.abs(each.sequence), each.pairs, each.names)) for each in documents]
    numbers = np.repeat(np.arange(len(parts), dtype=np.int64), [part.size for part in parts])
    every = distinct((numbers << 32) | np.concatenate(parts))  # each term of each document once
    terms, counts = np.unique(every & 0xFFFF_FFFF, return_counts=True)
    named = terms > 0
    return terms[named], counts[named].astype(np.int64)


@dataclass(frozen=True, slots=True)
class Inversion:
    """For each term its postings, the terms and in each the documents ascending."""

    terms: NDArray[np.int64]  # (t,)
    bounds: NDArray[np.int64]  # (t + 1,): term i has the postings from bounds[i] to bounds[i + 1]
    documents: NDArray[np.int64]  # offsets
    frequencies: NDArray[np.int64]
    lengths: NDArray[np.int64]  # (n,): terms of each document, with repetition, which names and stop words are not

    def places(self, terms: NDArray[np.integer]) -> tuple[IntArray, IntArray]:
        """Starts and ends of the postings of terms; equal for a term without any."""
        if not self.terms.size:
            return np.zeros(terms.size, np.int64), np.zeros(terms.size, np.int64)
        at = np.minimum(self.terms.searchsorted(terms), self.terms.size - 1)
        starts = self.bounds[at]
        return starts, np.where(self.terms[at] == terms, self.bounds[at + 1], starts)

    def place(self, term: int) -> slice:
        """The slice of the postings of a term."""
        starts, ends = self.places(np.array([term]))
        return slice(int(starts[0]), int(ends[0]))


def invert(documents: Sequence[Document | None]) -> Inversion:
    """The postings of adjacent documents; None stands for a missing one.

    Words of titles count twice. Stop words and names have postings, too, to narrow down phrases and filters.

    Examples
    --------
    >>> one = Document(np.array([7, -3, 7, 5]), 0, np.array([], int), np.array([0, 9]))
    >>> two = Document(np.array([5]), 1, np.array([], int), np.array([], int))
    >>> inverted = invert([one, None, two])
    >>> inverted.terms.tolist(), inverted.bounds.tolist()
    ([3, 5, 7, 9], [0, 1, 3, 4, 5])
    >>> inverted.documents.tolist(), inverted.frequencies.tolist(), inverted.lengths.tolist()
    ([0, 0, 2, 0, 0], [1, 1, 2, 2, 1], [3, 0, 2])
    """
    found = [_counted(document) if document else [] for document in documents]
    parts = [part for of_document in found for part in of_document]
    sizes = [sum(part.size for part in of_document) for of_document in found]
    items = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
    # One number holds both, the term in front, so that a plain sort is the whole inversion.
    keys = np.abs(items) << 32 | np.repeat(np.arange(len(documents)), sizes)
    keys = np.sort(keys[items != 0])
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    frequencies = np.minimum(np.diff(starts, append=keys.size), MAX_FREQUENT)
    terms = keys[starts] >> 32
    begins = np.flatnonzero(np.diff(terms, prepend=-1))
    return Inversion(
        terms[begins],
        np.append(begins, terms.size),
        keys[starts] & 0xFFFFFFFF,
        frequencies,
        np.array([document.length if document else 0 for document in documents], np.int64),
    )


def _counted(document: Document) -> list[NDArray[np.int32]]:
    return [document.sequence, *[document.title] * (TITLE - 1), document.pairs, document.names]


def vectors(documents: Sequence[Document], sources: Sequence[int]) -> Vectors:
    """Term frequencies of documents, concatenated.

    >>> found = vectors([Document(np.array([7, -3, 7, 5]), 1, np.array([], int), np.array([], int))], [1])
    >>> found.terms.tolist(), found.frequencies.tolist(), found.bounds.tolist(), found.lengths.tolist()
    ([5, 7], [1, 2], [0, 2], [4])
    """
    found = [np.unique_counts(document.terms) for document in documents]
    return Vectors(
        np.concatenate([counted.values for counted in found] or [np.empty(0, np.int64)]).astype(np.int64),
        np.concatenate([counted.counts for counted in found] or [np.empty(0, np.int64)]),
        np.cumsum([0, *(counted.values.size for counted in found)]),
        np.array([document.length for document in documents], np.int64),
        np.array(sources, np.int64),
    )


def sequences(documents: Sequence[Document]) -> Sequences:
    """Word sequences of documents, concatenated."""
    parts = [document.sequence for document in documents]
    return Sequences(
        np.concatenate(parts or [np.empty(0, np.int64)]).astype(np.int64),
        np.cumsum([0, *(part.size for part in parts)]),
    )


# --- the in-memory segment --------------------------------------------------------------------------------------------
MIN_DOCUMENTS = 32  # per chunk, except for the last one


def spans(first: int, end: int) -> list[tuple[int, int]]:
    """First and end of the chunks of the documents from `first` to `end`, the oldest first.

    As documents arrive only the last few borders change, so that chunks can be cached: each document is inverted again
    once per doubling, and there are few chunks.

    >>> spans(0, 100), spans(0, 130), spans(2_048, 2_050)
    ([(0, 64), (64, 96), (96, 100)], [(0, 128), (128, 130)], [(2048, 2050)])
    """
    found = []
    while end - first >= MIN_DOCUMENTS:
        length = 1 << ((end - first).bit_length() - 1)
        if first:
            length = min(length, first & -first)  # the largest power of two that divides it
        if length < MIN_DOCUMENTS:
            length = min(MIN_DOCUMENTS - first % MIN_DOCUMENTS, end - first)
        found.append((first, first + length))
        first += length
    return found + [(first, end)] * (first < end)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Adjacent documents; dead ones are None."""

    first: int
    documents: Sequence[Document | None]
    attributes: Attributes  # meaningless for dead ones
    inversion: Inversion
    alive: NDArray[np.bool_]

    @classmethod
    def of(cls, first: int, documents: Sequence[Document | None], attributes: Attributes) -> "Chunk":
        alive = np.array([document is not None for document in documents], np.bool_)
        return cls(first, documents, attributes, invert(documents), alive)

    @property
    def size(self) -> int:
        return len(self.documents)

    def rows(self, terms: Sequence[int], average_length: float) -> list[Row | None]:
        """The postings of each term with exact impacts, None without any."""
        found = self.inversion
        starts, ends = found.places(np.array(terms, np.int64))
        counts = ends - starts
        edges = np.cumsum(counts)
        # The postings of all terms, concatenated.
        postings = np.arange(counts.sum()) + np.repeat(starts - edges + counts, counts)
        documents = found.documents[postings]
        values = impacts(found.frequencies[postings], found.lengths[documents], average_length)
        return [
            Row(documents[end - count : end], values[end - count : end]) if count else None
            for end, count in zip(edges.tolist(), counts.tolist(), strict=True)
        ]

    def frequencies(self, terms: NDArray[np.integer]) -> NDArray[np.int64]:
        """Document frequency of each term."""
        starts, ends = self.inversion.places(terms)
        return ends - starts


MAX_GENERATION = 65_536  # documents, so that an offset fits 16 bits

COPY_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # of Postgres' binary format of COPY
COPY_END = b"\xff\xff"
_ROW_HEAD = struct.Struct(">hiiiiihi")  # four columns, each after its length; the last one's bytes follow


def pack_numbers(values: ArrayLike, kind: str = "<i4") -> bytes:
    """Integers as little-endian bytes; raises OverflowError if one does not fit.

    >>> pack_numbers([1, -2]).hex()
    '01000000feffffff'
    """
    given = np.asarray(values, np.int64)
    kept = given.astype(kind)
    if not np.array_equal(kept, given):
        raise OverflowError(f"a number between {given.min()} and {given.max()} does not fit {kind}")
    return kept.tobytes()


def pack_flags(flags: NDArray[np.bool_]) -> bytes:
    """
    >>> pack_flags(np.array([True, False, True])).hex()
    'a0'
    """
    return np.packbits(flags).tobytes()


def unpack_flags(data: bytes | memoryview, size: int) -> NDArray[np.bool_]:
    """
    >>> unpack_flags(bytes.fromhex("a0"), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(np.frombuffer(data, np.uint8), count=size).astype(np.bool_)


def unpack_row(data: bytes | memoryview, largest: int) -> Row:
    """The postings of one row, without a copy: offsets of two bytes, then impacts of one byte.

    >>> row = unpack_row(bytes([0, 0, 7, 0, 255, 100]), largest=255)
    >>> row.documents.tolist(), row.impacts.tolist()
    ([0, 7], [255, 100])
    """
    count = len(data) // 3
    return Row(np.frombuffer(data, "<u2", count), np.frombuffer(data, np.uint8, count, 2 * count), largest)


def copied_rows(inverted: Inversion, generation_id: int, average_length: float) -> Iterator[bytes]:
    """The rows of a generation of at most MAX_GENERATION documents as pieces of Postgres' binary COPY.

    Columns: term, generation, largest impact, postings.
    """
    worth = packed_impacts(inverted, average_length)
    largest = np.maximum.reduceat(worth, inverted.bounds[:-1]).tolist() if worth.size else []
    offsets, values = inverted.documents.astype("<u2").tobytes(), worth.tobytes()
    bounds = inverted.bounds.tolist()
    head = _ROW_HEAD.pack
    yield COPY_BEGIN
    for number, term in enumerate(inverted.terms.tolist()):
        start, end = bounds[number], bounds[number + 1]
        yield (
            head(4, 4, term, 4, generation_id, 2, largest[number], 3 * (end - start))
            + offsets[2 * start : 2 * end]
            + values[start:end]
        )
    yield COPY_END


def packed_impacts(inverted: Inversion, average_length: float) -> NDArray[np.uint8]:
    lengths = inverted.lengths[inverted.documents]
    return packed(impacts(inverted.frequencies, lengths, average_length))
