"""Rows of the index with caches.

No cached value ever changes under its key: numbers of documents and generations are never reused, and an index that was
emptied has another head.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from apps.database import machine
from apps.database.statements import fetch, fetch_rows
from apps.postings.algorithms.times import microseconds
from apps.search.algorithms.index.caching import OVERHEAD, Cache
from apps.search.algorithms.index.conditions import joined
from apps.search.algorithms.index.inversion import Attributes, Chunk, Document, unpack_flags, unpack_row
from apps.search.algorithms.models.index import IntArray, Row

Value = TypeVar("Value")

MEGABYTE = 2**20  # bytes
FULL_MEMORY = 8 * 2**30  # bytes of a machine whose caches have their full size
READ_AT_ONCE = 1_000_000  # documents whose attributes are read: more would be evicted before a search comes to them


def _row_weight(row: Row | None) -> int:
    return row.documents.nbytes + row.impacts.nbytes if row else 0


def _document_weight(document: Document) -> int:
    # Three arrays, with an overhead about as large as their usual content.
    return document.sequence.nbytes + document.pairs.nbytes + document.names.nbytes + 3 * OVERHEAD


def _weight(columns: tuple[NDArray[Any], ...]) -> int:
    return sum(column.nbytes for column in columns)


def _state_weight(state: tuple[tuple[int, ...], tuple["Segment", ...]]) -> int:
    return sum(map(len, state)) * OVERHEAD


def _chunk_weight(chunk: Chunk) -> int:
    arrays = chunk.inversion.terms.nbytes * 2 + chunk.inversion.documents.nbytes * 2 + chunk.size * 40
    return arrays + sum(_document_weight(document) + OVERHEAD for document in chunk.documents if document)


def _room(megabytes: int) -> int:
    """Bytes of a cache; less on a machine without the memory for large archives."""
    return int(megabytes * MEGABYTE * _share())


def _share() -> float:
    return min(1.0, machine.memory() / FULL_MEMORY)


# What each search needs of all documents has room for 20 million. What differs from query to query has less: Postgres
# has it in memory, too, and it fills for as long as readers find other words.
_attributes = Cache[tuple[int, int], Attributes](_room(64), _weight)  # of generation and dead count
_origins = Cache[tuple[int, int], "Origins"](_room(64), _weight)  # of generation and dead count
_joined_origins = Cache[tuple[tuple[int, int], ...], "Origins"](_room(96), _weight)  # the same of each of a run
_rows = Cache[tuple[tuple[int, ...], int], Row | None](_room(32), _row_weight)  # of a run and a term
_documents = Cache[tuple[int, int], Document](_room(8), _document_weight)  # of head and number
_states = Cache[tuple[int, int], tuple[tuple[int, ...], tuple["Segment", ...]]](MEGABYTE, _state_weight)
_chunks = Cache[tuple[int, int, int, tuple[int, ...]], Chunk](64 * MEGABYTE, _chunk_weight)  # of one state


class Origins(NamedTuple):
    """The source of each document of a generation, and whether it is alive."""

    source_ids: IntArray
    alive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Segment:
    """A generation without its attributes of documents."""

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
    """The state of the index in one snapshot."""

    head: int  # 0 for an empty index
    revision: int
    next_document: int
    dead: tuple[int, ...]  # documents in the in-memory segment
    generations: tuple[Segment, ...]  # the oldest first

    @property
    def memory_start(self) -> int:
        """The first document of the in-memory segment."""
        return self.generations[-1].end if self.generations else 0


HEAD = "SELECT id, revision, next_document FROM search_head"
_GENERATIONS = "SELECT id, first, size, tokens, dead_count, latest FROM search_generation ORDER BY first"
_DEAD = "SELECT number FROM search_document WHERE dead ORDER BY number"


def state(heads: Sequence[Any]) -> State:
    """The state for the rows of HEAD, which has none for an empty index."""
    if not heads:
        return State(0, 0, 0, (), ())
    [head] = heads
    key = (head.id, head.revision)
    found = _states.among([key]).get(key)
    if found is None:
        generations = [
            Segment(row.id, row.first, row.size, row.tokens, row.dead_count, microseconds(row.latest))
            for row in fetch_rows(_GENERATIONS)
        ]
        found = (tuple(number for (number,) in fetch(_DEAD)), tuple(generations))
        _states.keep({key: found})
    return State(head.id, head.revision, head.next_document, *found)


def attributes_of_run(run: Sequence[Segment], generations: Sequence[Segment]) -> Attributes:
    """Attributes of the documents of a run of generations."""
    return joined(
        _of_run(run, generations, _attributes, "posting_ids, source_ids, published, languages", _attributes_in)
    )


def origins_of_run(run: Sequence[Segment], generations: Sequence[Segment]) -> Origins:
    """The source of each document of a run, and whether it is alive: what nearly every search needs of all of them."""
    found = _joined_origins.among([key := tuple(_of(run))])
    if key in found:
        return found[key]
    parts = _of_run(run, generations, _origins, "size, source_ids, dead", _origins_in)
    if len(parts) == 1:
        return parts[0]
    joined = Origins(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    _joined_origins.keep({key: joined})  # to copy all for each search takes longer than the search
    return joined


def languages_of_generations(ids: Sequence[int]) -> dict[int, NDArray[np.bytes_]]:
    """The language of each document, by generation."""
    if not ids:
        return {}
    rows = fetch("SELECT id, languages FROM search_generation WHERE id = ANY(%s)", [list(ids)])
    return {id: np.frombuffer(languages, "S3") for id, languages in rows}


def _of_run(
    run: Sequence[Segment],
    generations: Sequence[Segment],
    cache: Cache[tuple[int, int], Value],
    columns: str,
    unpacked: Callable[[Any], Value],
) -> list[Value]:
    """A value of each generation of a run; if any is not cached, those of many are read at once."""
    found = cache.among(_of(run))
    if len(found) < len(run):
        found |= cache.among(_of(generations))
        missing = [segment for segment in generations if (segment.id, segment.dead_count) not in found]
        rows = fetch_rows(
            f"SELECT id, dead_count, {columns} FROM search_generation WHERE id = ANY(%s)",
            [[segment.id for segment in _first_needed(run, missing)]],
        )
        read = {(row.id, row.dead_count): unpacked(row) for row in rows}
        cache.keep(read)
        found |= read
        # What was merged or has changed since is not read again, and would fill the caches.
        present = {segment.id for segment in generations}
        _rows.only(lambda key: present.issuperset(key[0]))
        current = set(_of(generations))
        _attributes.only(current.__contains__)
        _origins.only(current.__contains__)
        _joined_origins.only(current.issuperset)
    return [found[key] for key in _of(run)]


def _first_needed(run: Sequence[Segment], missing: Iterable[Segment]) -> list[Segment]:
    """Those of the run, then those that a search comes to next, which goes from the newest to the oldest."""
    of_run = {segment.id for segment in run}
    order = sorted(missing, key=lambda each: (each.id not in of_run, each.first > run[0].first, -each.first))
    read, most = np.cumsum([segment.size for segment in order]), READ_AT_ONCE * _share()
    return [each for each, size in zip(order, read, strict=True) if each.id in of_run or size <= most]


_ATTRIBUTES = """
SELECT (place - 1)::int AS number, posting_id, source_id, published_at, language
FROM unnest(%s::int[]) WITH ORDINALITY wanted (document, place) JOIN search_document ON number = document
"""


def attributes_of(documents: IntArray) -> Attributes:
    """Attributes of a few documents among many, in their order."""
    return attributes(fetch_rows(_ATTRIBUTES, [documents.tolist()]), 0, documents.size)


def _of(run: Sequence[Segment]) -> list[tuple[int, int]]:
    return [(segment.id, segment.dead_count) for segment in run]


def _attributes_in(row: Any) -> Attributes:
    return Attributes(
        np.frombuffer(row.posting_ids, "<i8"),
        np.frombuffer(row.source_ids, "<i4"),
        np.frombuffer(row.published, "<i8"),
        np.frombuffer(row.languages, "S3"),
    )


def _origins_in(row: Any) -> Origins:
    source_ids = np.frombuffer(row.source_ids, "<i4")
    is_small = source_ids.max(initial=0) < 2**16
    return Origins(source_ids.astype(np.uint16) if is_small else source_ids, ~unpack_flags(row.dead, row.size))


_ROWS = """
SELECT generation_id, term_id, largest, postings FROM search_row WHERE term_id = ANY(%s) AND generation_id = ANY(%s)
"""


def rows(
    runs: Sequence[Sequence[Segment]], terms: Sequence[int]
) -> Iterator[tuple[Sequence[Segment], list[Row | None]]]:
    """Each run of adjacent generations with the postings of each term in their order; None where it has none."""
    keys = [tuple(segment.id for segment in run) for run in runs]
    found = _rows.among((key, term) for key in keys for term in terms)
    pairs = zip(keys, runs, strict=True)
    if missing := [(key, run, term) for key, run in pairs for term in terms if (key, term) not in found]:
        wanted = [list({term for *_, term in missing}), list({part.id for _, run, _ in missing for part in run})]
        read = {
            (row.generation_id, row.term_id): unpack_row(row.postings, row.largest) for row in fetch_rows(_ROWS, wanted)
        }
        made = {
            (key, term): joined_row((np.uint32(part.first - run[0].first), read.get((part.id, term))) for part in run)
            for key, run, term in missing
        }
        _rows.keep(made)
        found |= made
    return ((run, [found[key, term] for term in terms]) for key, run in zip(keys, runs, strict=True))


def joined_row(rows: Iterable[tuple[int | np.uint32, Row | None]]) -> Row | None:
    """Merge rows of adjacent parts of a block, each with the offset of its part."""
    found = [(offset, row) for offset, row in rows if row is not None]
    if len(found) == 1:
        [(offset, row)] = found
        return Row(row.documents + offset, row.impacts, row.largest) if offset else row
    if not found:
        return None
    return Row(
        np.concatenate([row.documents + offset for offset, row in found]),
        np.concatenate([row.impacts for _, row in found]),
        max(row.largest for _, row in found),
    )


def largest(generations: Sequence[int], terms: Sequence[int]) -> dict[tuple[int, int], int]:
    """The largest packed impact of each term in each generation where it has postings."""
    found = fetch_rows(
        "SELECT generation_id, term_id, largest FROM search_row WHERE term_id = ANY(%s) AND generation_id = ANY(%s)",
        [list(terms), list(generations)],
    )
    return {(row.generation_id, row.term_id): row.largest for row in found}


def documents(head: int, numbers: Iterable[int]) -> dict[int, Document]:
    """The existing documents among these, by number."""
    keys = [(head, number) for number in numbers]
    found = _documents.among(keys)
    if len(found) < len(keys):
        missing = [number for head_and_number in keys if head_and_number not in found for number in head_and_number[1:]]
        read = {
            (head, row.number): document(row)
            for row in fetch_rows(
                "SELECT number, title_length, sequence, pairs, names FROM search_document WHERE number = ANY(%s)",
                [missing],
            )
        }
        _documents.keep(read)
        found |= read
    return {number: value for (_, number), value in found.items()}


def document(row: Any) -> Document:
    """From a row of search_document with the columns `title_length`, `sequence`, `pairs` and `names`."""
    return Document(
        np.frombuffer(row.sequence, "<i4"),
        row.title_length,
        np.frombuffer(row.pairs, "<i4"),
        np.frombuffer(row.names, "<i4"),
    )


_LIVE = """
SELECT number, posting_id, source_id, published_at, language, title_length, sequence, pairs, names
FROM search_document WHERE number >= %s AND number < %s AND NOT dead
"""


def live_rows(first: int, end: int) -> list[Any]:
    """Rows of the live documents from `first` to `end`."""
    return fetch_rows(_LIVE, [first, end])


def chunks(head: int, spans: Sequence[tuple[int, int]], dead: Sequence[int]) -> list[Chunk]:
    """The documents of the in-memory segment in chunks, one per span, without dead ones."""
    keys = [(head, first, end, tuple(number for number in dead if first <= number < end)) for first, end in spans]
    found = _chunks.among(keys)
    missing = [key for key in keys if key not in found]
    if missing:
        read = live_rows(missing[0][1], missing[-1][2])
        made = {key: _chunk(key[1], key[2], [row for row in read if key[1] <= row.number < key[2]]) for key in missing}
        _chunks.only(set(keys).__contains__)
        _chunks.keep(made)
        found |= made
    return [found[key] for key in keys]


def _chunk(first: int, end: int, alive: Sequence[Any]) -> Chunk:
    by_number = {row.number: document(row) for row in alive}
    return Chunk.of(first, [by_number.get(number) for number in range(first, end)], attributes(alive, first, end))


def attributes(alive: Sequence[Any], first: int, end: int) -> Attributes:
    """Attributes of the documents from `first` to `end`, 0 for dead ones, from rows of search_document."""
    known = np.zeros((3, end - first), np.int64)
    languages = np.zeros(end - first, "S3")
    for row in alive:
        at = row.number - first
        known[:, at] = row.posting_id, row.source_id, microseconds(row.published_at)
        languages[at] = row.language
    return Attributes(known[0], known[1], known[2], languages)
