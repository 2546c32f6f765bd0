"""Terms, their numbers and document frequencies."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch, fetch_as, fetch_rows
from apps.search.algorithms.models.index import UNKNOWN

MAX_CACHED = 100_000  # terms, about 25 MB

_TERMS = """
SELECT id AS number, term, (document_frequency
    - coalesce((SELECT sum(documents) FROM search_loss WHERE term_id = search_term.id), 0))::int AS documents
FROM search_term
"""


class _Known(NamedTuple):
    number: int
    term: str
    documents: int  # live ones in segments that have it


class _Cached:
    """Terms read under one revision of the index, shared by all searches."""

    def __init__(self, version: tuple[int, int]) -> None:
        self.version = version  # head and revision
        self.by_term: dict[str, _Known] = {}
        self.by_number: dict[int, _Known] = {}


_latest = _Cached((0, 0))


def _cached(version: tuple[int, int]) -> _Cached:
    global _latest
    latest = _latest
    if latest.version == version and len(latest.by_number) < MAX_CACHED:
        return latest
    begun = _Cached(version)
    if version >= latest.version:  # terms of an older snapshot are not shared
        _latest = begun
    return begun


class Terms:
    """Terms of one revision, each read once, as searches use the same ones repeatedly."""

    def __init__(self, head: int, revision: int) -> None:
        self._known = _cached((head, revision))
        self._unknown: set[str] = set()

    def numbers(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of each term, UNKNOWN where it has none."""
        known = self._known.by_term
        if missing := {term for term in terms if term not in known}.difference(self._unknown):
            self._read("term", sorted(missing))
            self._unknown.update(term for term in missing if term not in known)
        return np.array([known[term].number if term in known else UNKNOWN for term in terms], np.int64)

    def names(self, numbers: NDArray[np.integer]) -> list[str]:
        """The term of each number, which must be known."""
        return [known.term for known in self._of(numbers) if known]

    def segment_frequencies(self, numbers: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of live documents in segments with each term."""
        return np.array([known.documents if known else 0 for known in self._of(numbers)], np.int64)

    def _of(self, numbers: NDArray[np.integer]) -> list[_Known | None]:
        known, wanted = self._known.by_number, numbers.tolist()
        if missing := {number for number in wanted if number not in known and number != UNKNOWN}:
            self._read("id", sorted(missing))
        return [known.get(number) for number in wanted]

    def _read(self, column: str, values: Sequence[str] | Sequence[int]) -> None:
        for known in fetch_as(_Known, f"{_TERMS} WHERE {column} = ANY(%s)", [values]):
            self._known.by_term[known.term] = self._known.by_number[known.number] = known


class Counted(NamedTuple):
    """A stored term, including documents that died since the last update."""

    number: int
    documents: int


def counted(terms: Collection[str]) -> dict[str, Counted]:
    """The known ones of the terms."""
    rows = fetch_rows("SELECT term, id, document_frequency FROM search_term WHERE term = ANY(%s)", [sorted(terms)])
    return {row.term: Counted(row.id, row.document_frequency) for row in rows}


def documents_of(numbers: Collection[int]) -> dict[int, int]:
    """Approximate document frequencies of terms."""
    return dict(fetch("SELECT id, document_frequency FROM search_term WHERE id = ANY(%s)", [sorted(numbers)]))
