"""The index' rows, each read once as long as there is room to remember it.

All that is remembered here never changes under its key: documents and generations get no number twice, not even in an
index that was emptied and filled again, which has another head.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import Attributes
from apps.search.algorithms.index.inversion import Document
from apps.search.algorithms.index.packing import unpack_flags, unpack_row
from apps.search.algorithms.index.remembering import OVERHEAD, Remembered
from apps.search.algorithms.index.tail import Chunk
from apps.search.algorithms.models.index import Row
from apps.search.queries.database import LONGEST_STATEMENT, fetch
from apps.search.queries.times import microseconds

MEGABYTE = 2**20  # bytes


def _row_weight(row: Row | None) -> int:
    return row.documents.nbytes + row.impacts.nbytes if row else 0


def _document_weight(document: Document) -> int:
    # Three arrays, each of which weighs as much again as most of their contents.
    return document.sequence.nbytes + document.pairs.nbytes + document.names.nbytes + 3 * OVERHEAD


def _column_weight(columns: "Columns") -> int:
    known = columns.attributes
    return 2 * known.posting_ids.nbytes + known.source_ids.nbytes + known.languages.nbytes + columns.alive.nbytes


_rows = Remembered[tuple[int, int], Row | None](128 * MEGABYTE, _row_weight)  # of generation and term
_columns = Remembered[tuple[int, int], "Columns"](64 * MEGABYTE, _column_weight)  # of generation and its dead
_documents = Remembered[tuple[int, int], Document](48 * MEGABYTE, _document_weight)  # of head and number
_chunks = Remembered[tuple[int, int, int, tuple[int, ...]], Chunk](16 * MEGABYTE, lambda chunk: chunk.weight)


@dataclass(frozen=True, slots=True)
class Columns:
    """What a generation knows of its documents."""

    attributes: Attributes
    alive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A generation, but for what it knows of each document."""

    id: int
    first: int
    size: int
    tokens: int
    dead_count: int
    latest: int  # publication, microseconds since 1970

    @property
    def end(self) -> int:
        return self.first + self.size


@dataclass(frozen=True, slots=True)
class State:
    """Of an index at one instant."""

    head: int  # 0 if nothing was ever indexed
    next_document: int
    dead: tuple[int, ...]  # documents of the tail
    generations: tuple[Sealed, ...]  # the oldest first

    @property
    def sealed(self) -> int:
        """The first document of the tail."""
        return self.generations[-1].end if self.generations else 0


# The first statement of a search also bounds all that follow it in its transaction.
_STATE = f"""
SELECT set_config('statement_timeout', '{LONGEST_STATEMENT}', true), head.id, head.next_document,
    ARRAY(SELECT number FROM search_document WHERE dead ORDER BY number),
    generation.id, first, size, tokens, dead_count, latest
FROM search_head head LEFT JOIN search_generation generation ON true ORDER BY first
"""


def state() -> State:
    rows = fetch(_STATE)
    if not rows:
        return State(0, 0, (), ())
    _, head, next_document, dead, *_ = rows[0]
    generations = [
        Sealed(row[4], row[5], row[6], row[7], row[8], microseconds(row[9])) for row in rows if row[4] is not None
    ]
    return State(head, next_document, tuple(dead), tuple(generations))


def columns(generations: Collection[Sealed]) -> dict[int, Columns]:
    """By generation, what it knows of its documents."""
    keys = [(sealed.id, sealed.dead_count) for sealed in generations]
    found = _columns.among(keys)
    if missing := [key for key in keys if key not in found]:
        rows = fetch(
            "SELECT id, dead_count, size, posting_ids, source_ids, published, languages, dead FROM search_generation"
            " WHERE id = ANY(%s)",
            [[generation for generation, _ in missing]],
        )
        read = {(id, dead_count): _unpacked(*arrays) for id, dead_count, *arrays in rows}
        _columns.keep(read)
        found |= read
    return {generation: value for (generation, _), value in found.items()}


def _unpacked(
    size: int, posting_ids: bytes, source_ids: bytes, published: bytes, languages: bytes, dead: bytes
) -> Columns:
    known = Attributes(
        np.frombuffer(posting_ids, "<i8"),
        np.frombuffer(source_ids, "<i4"),
        np.frombuffer(published, "<i8"),
        np.frombuffer(languages, "S3"),
    )
    return Columns(known, ~unpack_flags(dead, size))


def rows(generations: Sequence[int], terms: Sequence[int]) -> dict[tuple[int, int], Row | None]:
    """The postings of each term in each generation; None where it has none."""
    keys = [(generation, term) for generation in generations for term in terms]
    found = _rows.among(keys)
    if len(found) < len(keys):
        missing = set(keys) - found.keys()
        read: dict[tuple[int, int], Row | None] = dict.fromkeys(missing)
        for generation, term, postings in fetch(
            "SELECT generation_id, term_id, postings FROM search_row"
            " WHERE term_id = ANY(%s) AND generation_id = ANY(%s)",
            [sorted({term for _, term in missing}), sorted({generation for generation, _ in missing})],
        ):
            read[generation, term] = unpack_row(postings)
        _rows.keep(read)
        found |= read
    return found


def largest(generations: Sequence[int], terms: Sequence[int]) -> dict[tuple[int, int], int]:
    """The largest packed impact of each term in each generation where it has postings."""
    found = fetch(
        "SELECT generation_id, term_id, largest FROM search_row WHERE term_id = ANY(%s) AND generation_id = ANY(%s)",
        [list(terms), list(generations)],
    )
    return {(generation, term): impact for generation, term, impact in found}


def documents(head: int, numbers: Iterable[int]) -> dict[int, Document]:
    """By number, the documents among these that are still kept."""
    keys = [(head, number) for number in numbers]
    found = _documents.among(keys)
    if len(found) < len(keys):
        missing = [number for head_and_number in keys if head_and_number not in found for number in head_and_number[1:]]
        read = {
            (head, number): document(*arrays)
            for number, *arrays in fetch(
                "SELECT number, title_length, sequence, pairs, names FROM search_document WHERE number = ANY(%s)",
                [missing],
            )
        }
        _documents.keep(read)
        found |= read
    return {number: value for (_, number), value in found.items()}


def document(title_length: int, sequence: bytes, pairs: bytes, names: bytes) -> Document:
    return Document(
        np.frombuffer(sequence, "<i4"), title_length, np.frombuffer(pairs, "<i4"), np.frombuffer(names, "<i4")
    )


_TAIL = """
SELECT number, posting_id, source_id, published_at, language, title_length, sequence, pairs, names
FROM search_document WHERE number >= %s AND number < %s AND NOT dead
"""


def chunks(head: int, spans: Sequence[tuple[int, int]], dead: Sequence[int]) -> list[Chunk]:
    """The documents of the tail in chunks, one per span, without the dead."""
    keys = [(head, first, end, tuple(number for number in dead if first <= number < end)) for first, end in spans]
    found = _chunks.among(keys)
    missing = [key for key in keys if key not in found]
    if missing:
        read = fetch(_TAIL, [missing[0][1], missing[-1][2]])
        made = {key: _chunk(key[1], key[2], [row for row in read if key[1] <= row[0] < key[2]]) for key in missing}
        _chunks.keep(made)
        found |= made
    return [found[key] for key in keys]


def _chunk(first: int, end: int, alive: Sequence[tuple[Any, ...]]) -> Chunk:
    made: list[Document | None] = [None] * (end - first)
    known = np.zeros((3, end - first), np.int64)
    languages = np.zeros(end - first, "S3")
    for number, posting_id, source_id, published_at, language, *arrays in alive:
        at = number - first
        made[at] = document(*arrays)
        known[:, at] = posting_id, source_id, microseconds(published_at)
        languages[at] = language
    return Chunk.of(first, made, Attributes(known[0], known[1], known[2], languages))


def forget() -> None:
    """Remember nothing any more, for measurements from cold."""
    for remembered in (_rows, _columns, _documents, _chunks):
        remembered.forget()
