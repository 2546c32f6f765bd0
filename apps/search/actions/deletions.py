"""Delete documents whose postings were edited or deleted."""

from collections.abc import Iterable, Sequence

import numpy as np

from apps.database.statements import copy_rows, execute, fetch, fetch_rows
from apps.search.actions.head import revise
from apps.search.algorithms.index.inversion import Document, holders
from apps.search.algorithms.index.packing import pack_flags, unpack_flags
from apps.search.queries.stored import document


def kill(numbers: Sequence[int]) -> None:
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
        _kill_in(generation.id, size, [number - first for number in inside], inside)
    if in_memory := [number for number in numbers if number not in in_segments]:
        execute("UPDATE search_document SET dead = true WHERE number = ANY(%s)", [in_memory])
    revise()


def _kill_in(generation: int, size: int, offsets: Sequence[int], numbers: Iterable[int]) -> None:
    rows = fetch_rows(
        "DELETE FROM search_document WHERE number = ANY(%s) RETURNING title_length, sequence, pairs, names",
        [list(numbers)],
    )
    gone = [document(row) for row in rows]
    lose(gone)
    [(data,)] = fetch("SELECT dead FROM search_generation WHERE id = %s", [generation])
    dead = unpack_flags(data, size)
    dead[np.array(offsets)] = True
    execute(
        "UPDATE search_generation SET dead = %s, dead_count = %s, tokens = tokens - %s WHERE id = %s",
        [pack_flags(dead), int(dead.sum()), sum(each.length for each in gone), generation],
    )


def lose(documents: Iterable[Document]) -> None:
    """Record the documents that terms have lost in segments."""
    terms, counts = holders(list(documents))
    if terms.size:
        copy_rows(_COPY, ["int4", "int4"], zip(terms.tolist(), counts.tolist(), strict=True))


_COPY = "COPY search_loss (term_id, documents) FROM STDIN (FORMAT BINARY)"
