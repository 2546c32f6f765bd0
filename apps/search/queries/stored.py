"""The index' rows, each read once as long as there is room to remember it.

All that is remembered here never changes under its key: documents and generations get no number twice, not even in an
index that was emptied and filled again, which has another head.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch
from apps.search.algorithms.index.conditions import Attributes, joined
from apps.search.algorithms.index.inversion import Document
from apps.search.algorithms.index.packing import unpack_flags, unpack_row
from apps.search.algorithms.index.remembering import OVERHEAD, Remembered
from apps.search.algorithms.index.tail import Chunk
from apps.search.algorithms.models.index import Row
from apps.search.queries import terms
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


def _state_weight(state: tuple[tuple[int, ...], tuple["Sealed", ...]]) -> int:
    return sum(map(len, state)) * OVERHEAD


_rows = Remembered[tuple[int, int], Row | None](128 * MEGABYTE, _row_weight)  # of generation and term
_columns = Remembered[tuple[tuple[int, int], ...], "Columns"](64 * MEGABYTE, _column_weight)  # of runs, with their dead
_documents = Remembered[tuple[int, int], Document](48 * MEGABYTE, _document_weight)  # of head and number
_states = Remembered[tuple[int, int], tuple[tuple[int, ...], tuple["Sealed", ...]]](MEGABYTE, _state_weight)
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
    revision: int
    next_document: int
    dead: tuple[int, ...]  # documents of the tail
    generations: tuple[Sealed, ...]  # the oldest first

    @property
    def sealed(self) -> int:
        """The first document of the tail."""
        return self.generations[-1].end if self.generations else 0


HEAD = "SELECT id, revision, next_document FROM search_head"
_GENERATIONS = "SELECT id, first, size, tokens, dead_count, latest FROM search_generation ORDER BY first"
_DEAD = "SELECT number FROM search_document WHERE dead ORDER BY number"


def state(heads: Sequence[tuple[int, int, int]]) -> State:
    """The state under a head; none are in an index into which nothing was ever put."""
    if not heads:
        return State(0, 0, 0, (), ())
    [(head, revision, next_document)] = heads
    key = (head, revision)
    found = _states.among([key]).get(key)
    if found is None:
        generations = [
            Sealed(id, first, size, tokens, dead_count, microseconds(latest))
            for id, first, size, tokens, dead_count, latest in fetch(_GENERATIONS)
        ]
        found = (tuple(number for (number,) in fetch(_DEAD)), tuple(generations))
        _states.keep({key: found})
    return State(head, revision, next_document, *found)


def columns(run: Sequence[Sealed], generations: Sequence[Sealed]) -> Columns:
    """What a run of generations knows of its documents; where something has to be read, then of all of them at once."""
    key = _of(run)
    found = _columns.among([key])
    if not found:
        parts = _columns.among(_of([sealed]) for sealed in generations)
        if missing := [sealed.id for sealed in generations if _of([sealed]) not in parts]:
            rows = fetch(
                "SELECT id, dead_count, size, posting_ids, source_ids, published, languages, dead"
                " FROM search_generation WHERE id = ANY(%s)",
                [missing],
            )
            parts |= {((id, dead_count),): _unpacked(*arrays) for id, dead_count, *arrays in rows}
        of_run = [parts[_of([sealed])] for sealed in run]
        found = {
            key: Columns(joined([part.attributes for part in of_run]), np.concatenate([part.alive for part in of_run]))
        }
        _columns.keep(parts | found)
    return found[key]


def _of(run: Sequence[Sealed]) -> tuple[tuple[int, int], ...]:
    return tuple((sealed.id, sealed.dead_count) for sealed in run)


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


def rows(generations: Sequence[int], terms: Sequence[int]) -> dict[int, list[Row | None]]:
    """By generation, the postings of each term in their order; None where it has none."""
    keys = [(generation, term) for generation in generations for term in terms]
    found = _rows.among(keys)
    if len(found) < len(keys):
        missing = set(keys) - found.keys()
        read: dict[tuple[int, int], Row | None] = dict.fromkeys(missing)
        for generation, term, largest_impact, postings in fetch(
            "SELECT generation_id, term_id, largest, postings FROM search_row"
            " WHERE term_id = ANY(%s) AND generation_id = ANY(%s)",
            [sorted({term for _, term in missing}), sorted({generation for generation, _ in missing})],
        ):
            read[generation, term] = unpack_row(postings, largest_impact)
        _rows.keep(read)
        found |= read
    return {generation: [found[generation, term] for term in terms] for generation in generations}


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
    for remembered in (_rows, _columns, _documents, _chunks, _states):
        remembered.forget()
    terms.forget()
