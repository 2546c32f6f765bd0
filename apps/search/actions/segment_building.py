"""Build segments (generations) from new documents, merge or rebuild them, and delete those without live documents.

A segment is always built from the rows of its documents. So a merge leaves out dead ones, and computes impacts with the
present average length.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db import connection, transaction

from apps.database.advisory_locks import take
from apps.database.statements import copy_rows, execute, fetch, fetch_rows
from apps.database.time_limits import stopping
from apps.postings.algorithms.times import EPOCH
from apps.search.actions.dictionary import settle
from apps.search.actions.head import revise
from apps.search.actions.locks import MAINTAINING, WRITING
from apps.search.algorithms.index import inversion as inverting
from apps.search.algorithms.index.levels import SMALLEST, size_of, to_build, to_merge
from apps.search.algorithms.models.bm25 import IMPACT_VERSION
from apps.search.models import Generation
from apps.search.queries.spans import is_reindexing
from apps.search.queries.stored import attributes, document, live_rows

ARRAYS = ("dead", "posting_ids", "source_ids", "published", "languages")
MAX_DEAD = 0.25  # share of dead documents with postings, above which a segment is rebuilt
POLL_SECONDS = 0.5  # for the end of maintenance by another worker
MAX_DRIFT = 0.10  # of the average length since a segment was built, above which it is rebuilt


def maintain(*, at_least: int = SMALLEST) -> int:
    """Build and merge segments while there is need, one transaction each; returns how many.

    Fewer new documents than `at_least` stay in the in-memory segment.
    """
    steps = 0
    while not stopping.is_set() and step(at_least=at_least):
        steps += 1
    return steps


def finish(beat: Callable[[], None]) -> None:
    """Build and merge segments until there is nothing left, also by other workers."""
    while True:
        while step():
            beat()
        with transaction.atomic():
            if take(MAINTAINING, wait=False):
                return
        beat()
        time.sleep(POLL_SECONDS)


@transaction.atomic
def step(*, at_least: int = SMALLEST) -> bool:
    """Do the most urgent maintenance; False if there is none, or another worker holds the lock."""
    if not take(MAINTAINING, wait=False):
        return False
    was_built = _build(at_least)
    was_settled = not was_built and settle([], [])
    was_done = was_built or _delete_dead() or _merge()
    if was_settled or was_done:
        revise()
    return was_done


def _generations() -> list[Generation]:
    """All generations without their arrays."""
    return list(Generation.objects.defer(*ARRAYS).order_by("first"))


# --- decisions --------------------------------------------------------------------------------------------------------
def _build(at_least: int) -> bool:
    """Build a segment of the oldest documents of the in-memory segment, if there are enough."""
    generations = _generations()
    waiting = fetch_rows(
        "SELECT number, (octet_length(sequence) + octet_length(pairs)) / 4 AS items"
        " FROM search_document WHERE number >= %s"
        " ORDER BY number LIMIT %s",
        [generations[-1].end if generations else 0, inverting.MAX_GENERATION],
    )
    size = to_build([size_of(1, items) for _, items in waiting], at_least=at_least)
    if not size:
        return False
    first, end = waiting[0].number, waiting[size - 1].number + 1
    made = _make(first, end, generations)
    settle(made.inversion.terms.tolist(), np.diff(made.inversion.bounds).tolist())
    take(WRITING)
    record_deletions(_replace(made, []))
    execute("DELETE FROM search_document WHERE number >= %s AND number < %s AND dead", [first, end])
    return True


def _delete_dead() -> bool:
    """Delete a segment without live documents."""
    for generation in _generations():
        if not generation.alive:
            take(WRITING)
            _delete([generation.id])
            return True
    return False


def _merge() -> bool:
    """Merge segments, or rebuild one with many dead documents or outdated impacts."""
    generations = _generations()
    chosen = to_merge(_sizes(generations))
    if chosen is None:
        average = sum(each.tokens for each in generations) / max(sum(each.alive for each in generations), 1)
        max_dead = 1.0 if is_reindexing() else MAX_DEAD  # half dead segments will soon be wholly dead then
        worn = [number for number, each in enumerate(generations) if _needs_rewrite(each, average, max_dead)]
        if not worn:
            return False
        chosen = slice(worn[0], worn[0] + 1)
    old = generations[chosen]
    made = _make(old[0].first, old[-1].end, generations)
    take(WRITING)
    _replace(made, [generation.id for generation in old])
    return True


def _sizes(generations: Sequence[Generation]) -> list[int]:
    """The size of each for merging: its documents, with the gap up to the next, or its tokens."""
    ends = [*(generation.first for generation in generations[1:]), *(generation.end for generation in generations[-1:])]
    return [
        size_of(end - generation.first, generation.tokens) for generation, end in zip(generations, ends, strict=True)
    ]


def _needs_rewrite(generation: Generation, average_length: float, max_dead: float) -> bool:
    if generation.impact_version != IMPACT_VERSION:
        return True
    unneeded = generation.dead_count - generation.dropped
    drift = abs(average_length / max(generation.average_length, 1e-9) - 1)
    return unneeded > max_dead * generation.size or (drift > MAX_DRIFT and generation.tokens > 0)


# --- building ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Made:
    """A generation whose rows are written but not yet visible."""

    id: int
    first: int
    end: int
    documents: dict[int, inverting.Document]  # by number, those alive when it was built
    attributes: inverting.Attributes
    latest: datetime  # publication
    inversion: inverting.Inversion
    average_length: float


def _make(first: int, end: int, generations: Sequence[Generation]) -> _Made:
    """Write the rows of a segment of the live documents from `first` to `end`."""
    rows = live_rows(first, end)
    documents = {row.number: document(row) for row in rows}
    known = attributes(rows, first, end)
    latest = max((row.published_at for row in rows), default=EPOCH)
    inversion = inverting.invert([documents.get(number) for number in range(first, end)])
    others = [each for each in generations if not first <= each.first < end]
    tokens = sum(each.tokens for each in others) + int(inversion.lengths.sum())
    average = max(tokens, 1) / max(sum(each.alive for each in others) + len(documents), 1)
    [(generation,)] = fetch("SELECT nextval(pg_get_serial_sequence('search_generation', 'id'))::int")
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy("COPY search_row (term_id, generation_id, largest, postings) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        for piece in inverting.copied_rows(inversion, generation, average):
            copy.write(piece)
    return _Made(generation, first, end, documents, known, latest, inversion, average)


def _replace(made: _Made, old: Sequence[int]) -> list[inverting.Document]:
    """Replace generations by the new one; returns the documents that died while it was built.

    The caller holds the writers' lock: no document dies before the new generation is visible.
    """
    alive = {
        number
        for (number,) in fetch(
            "SELECT number FROM search_document WHERE number >= %s AND number < %s AND NOT dead", [made.first, made.end]
        )
    }
    size, known = made.end - made.first, made.attributes
    dead = np.array([number not in alive for number in range(made.first, made.end)], np.bool_)
    died = [document for number, document in made.documents.items() if number not in alive]
    if old:
        _delete(old)
    Generation.objects.create(
        id=made.id,
        first=made.first,
        size=size,
        average_length=made.average_length,
        impact_version=IMPACT_VERSION,
        tokens=int(made.inversion.lengths[~dead].sum()),
        dead_count=int(dead.sum()),
        dropped=size - len(made.documents),
        dead=inverting.pack_flags(dead),
        latest=made.latest,
        posting_ids=inverting.pack_numbers(known.posting_ids, "<i8"),
        source_ids=inverting.pack_numbers(known.source_ids),
        published=inverting.pack_numbers(known.published, "<i8"),
        languages=known.languages.tobytes(),
    )
    return died


def _delete(generations: Sequence[int]) -> None:
    execute("DELETE FROM search_row WHERE generation_id = ANY(%s)", [list(generations)])
    execute("DELETE FROM search_generation WHERE id = ANY(%s)", [list(generations)])


# --- documents whose postings were edited or deleted ------------------------------------------------------------------
def mark_deleted(numbers: Sequence[int]) -> None:
    """Make documents unsearchable. The caller holds the writers' lock.

    A document in the in-memory segment is flagged until its segment is built. Otherwise the generation flags it,
    its terms lose a document each, and its row is deleted.
    """
    if not numbers:
        return
    generations = fetch_rows(
        "SELECT id, first, size FROM search_generation WHERE EXISTS"
        " (SELECT FROM unnest(%s::int[]) number WHERE number >= first AND number < first + size)",
        [numbers],
    )
    in_segments: set[int] = set()
    for generation in generations:
        first, size = generation.first, generation.size
        inside = {number for number in numbers if first <= number < first + size}
        in_segments |= inside
        _mark_deleted_in(generation.id, size, [number - first for number in inside], inside)
    if in_memory := [number for number in numbers if number not in in_segments]:
        execute("UPDATE search_document SET dead = true WHERE number = ANY(%s)", [in_memory])
    revise()


def _mark_deleted_in(generation: int, size: int, offsets: Sequence[int], numbers: Iterable[int]) -> None:
    rows = fetch_rows(
        "DELETE FROM search_document WHERE number = ANY(%s) RETURNING title_length, sequence, pairs, names",
        [list(numbers)],
    )
    gone = [document(row) for row in rows]
    record_deletions(gone)
    [(data,)] = fetch("SELECT dead FROM search_generation WHERE id = %s", [generation])
    dead = inverting.unpack_flags(data, size)
    dead[np.array(offsets)] = True
    execute(
        "UPDATE search_generation SET dead = %s, dead_count = %s, tokens = tokens - %s WHERE id = %s",
        [inverting.pack_flags(dead), int(dead.sum()), sum(each.length for each in gone), generation],
    )


def record_deletions(documents: Iterable[inverting.Document]) -> None:
    """Record the documents that terms have lost in segments."""
    terms, counts = inverting.holders(list(documents))
    if terms.size:
        copy_rows(_COPY, ["int4", "int4"], zip(terms.tolist(), counts.tolist(), strict=True))


_COPY = "COPY search_loss (term_id, documents) FROM STDIN (FORMAT BINARY)"
