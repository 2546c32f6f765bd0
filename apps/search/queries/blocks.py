"""Blocks of the index for ranking, conditions and lists of the newest: generations and the in-memory segment."""

from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import PostingSource, Trial, joined, trial
from apps.search.algorithms.index.inversion import MAX_GENERATION, Attributes, Chunk, Document
from apps.search.algorithms.models.bm25 import K1, MAX_PACKED
from apps.search.algorithms.models.index import FloatArray, IntArray, Row
from apps.search.queries import stored
from apps.search.queries.stored import Origins, Segment

if TYPE_CHECKING:
    from apps.search.queries.snapshot import Snapshot

FIRST_READ = 12  # blocks: reading a few more is cheaper than a second query
MAX_JOINED = 64 * MAX_GENERATION  # documents; a search has a number of 4 bytes for each of a block
NOTHING = np.empty(0, np.int64)


class Reader:
    """Reads the rows of terms, of all blocks in one query, as round trips cost more than lookups.

    As a search may stop early, it first reads those of a few blocks, and then as many again each time.
    """

    def __init__(self, runs: Sequence[Sequence[Segment]], terms: Sequence[int]) -> None:
        self._waiting = list(runs)
        self._terms = terms
        self.place = {term: place for place, term in enumerate(terms)}  # of each term in `rows`
        self._rows: dict[int, list[Row | None]] = {}  # by the first generation of a run
        self._largest: dict[tuple[int, int], int] | None = None

    def rows(self, run: Sequence[Segment]) -> list[Row | None]:
        """Of each of the terms, in their order."""
        if run[0].id not in self._rows:
            start = next(number for number, each in enumerate(self._waiting) if each is run)
            end = start + max(FIRST_READ, len(self._rows))
            chosen, self._waiting[start:end] = self._waiting[start:end], []
            self._rows |= {each[0].id: rows for each, rows in stored.rows(chosen, self._terms)}
        return self._rows[run[0].id]

    def largest(self, generation: int, term: int) -> int:
        if self._largest is None:
            waiting = [segment.id for run in self._waiting for segment in run]
            self._largest = stored.largest(waiting, self._terms)
        return self._largest.get((generation, term), 0)


class _Block(PostingSource):
    """Base of both kinds of blocks: admitted documents and factors of scores."""

    first: int
    latest: int

    def __init__(self, snapshot: "Snapshot") -> None:
        self._snapshot = snapshot
        self._trial: Trial | None = None

    def alive(self) -> NDArray[np.bool_] | None:
        raise NotImplementedError

    def admitted(self, terms: Collection[int]) -> int:
        return 0

    def source_ids(self) -> IntArray:
        return self.attributes.source_ids

    def trial(self) -> Trial:
        if self._trial is None:
            self._trial = trial(self._snapshot.condition, self, self.alive())
        return self._trial

    def allowed(self, documents: IntArray) -> IntArray:
        condition = self._snapshot.condition
        if not condition.is_known:
            tried = self.trial()
            if tried.sure is not tried.possible:
                tried.decide(np.flatnonzero(tried.possible))
            return documents[tried.sure[documents]]
        flags, alive = condition.among(self, documents), self.alive()
        return documents[flags if alive is None else flags & alive[documents]]

    def factors(self) -> FloatArray | None:
        worth = self._snapshot.worth
        return worth.factors(self.attributes) if worth else None

    def largest_factor(self) -> float:
        worth = self._snapshot.worth
        return worth.largest(self.latest) if worth else 1.0


class GenerationBlock(_Block):
    """One large generation, or adjacent small ones: the cost of a block hardly depends on its size."""

    def __init__(
        self,
        snapshot: "Snapshot",
        segments: Sequence[Segment],
        terms: Sequence[int],
        reader: Reader,
        conditions: Reader,
    ) -> None:
        super().__init__(snapshot)
        self.first, self.size = segments[0].first, segments[-1].end - segments[0].first
        self.latest = max(part.latest for part in segments)
        self._segments, self._terms = segments, terms
        self._reader, self._conditions = reader, conditions
        self._rows: Sequence[Row | None] = ()  # once they were wanted

    def largest(self) -> FloatArray | None:
        if self._snapshot.worth is None:
            return None  # without factors hardly any generation can be skipped
        found = [max(self._reader.largest(part.id, term) for part in self._segments) for term in self._terms]
        return np.array(found) * ((K1 + 1) / MAX_PACKED)

    def rows(self) -> Sequence[Row | None]:
        self._rows = self._reader.rows(self._segments)
        return self._rows

    def admitted(self, terms: Collection[int]) -> int:
        """The number of these terms' postings that were read and that the condition admits."""
        rows = dict(zip(self._terms, self._rows, strict=False))  # a term may be wanted twice
        return sum(self.allowed(row.documents).size for term, row in rows.items() if row and term in terms)

    @cached_property
    def attributes(self) -> Attributes:
        return stored.attributes_of_run(self._segments, self._snapshot.state.generations)

    @property
    def _origins(self) -> Origins:
        key, known = (self.first, self.size), self._snapshot.origins
        if key not in known:
            known[key] = stored.origins_of_run(self._segments, self._snapshot.state.generations)
        return known[key]

    def alive(self) -> NDArray[np.bool_] | None:
        return self._origins.alive if any(part.dead_count for part in self._segments) else None

    def source_ids(self) -> IntArray:
        return self._origins.source_ids

    def holding(self, term: int) -> IntArray:
        row = self._conditions.rows(self._segments)[self._conditions.place[term]]
        return row.documents if row else NOTHING

    def read(self, offsets: IntArray) -> list[Document]:
        return self._snapshot.read(offsets + self.first)


class MemoryBlock(_Block):
    """The in-memory segment: all documents without a generation."""

    def __init__(self, snapshot: "Snapshot", chunks: Sequence[Chunk], terms: Sequence[int]) -> None:
        super().__init__(snapshot)
        self.first, self.size = chunks[0].first, sum(chunk.size for chunk in chunks)
        self.latest = max(int(chunk.attributes.published.max(initial=0)) for chunk in chunks)
        self._chunks = chunks
        average = snapshot.average_length
        parts = [zip(repeat(chunk.first - self.first), chunk.rows(terms, average)) for chunk in chunks]
        self._rows = [stored.joined_row(of_term) for of_term in zip(*parts, strict=True)]

    def largest(self) -> FloatArray | None:
        return None

    def rows(self) -> Sequence[Row | None]:
        return self._rows

    @cached_property
    def attributes(self) -> Attributes:
        return joined([chunk.attributes for chunk in self._chunks])

    def alive(self) -> NDArray[np.bool_] | None:
        return np.concatenate([chunk.alive for chunk in self._chunks])

    def holding(self, term: int) -> IntArray:
        found = [
            chunk.inversion.documents[chunk.inversion.place(term)] + (chunk.first - self.first)
            for chunk in self._chunks
        ]
        return np.concatenate(found)

    def read(self, offsets: IntArray) -> list[Document]:
        every = [document for chunk in self._chunks for document in chunk.documents]
        found = [every[offset] for offset in offsets.tolist()]
        return [document for document in found if document is not None]


def joinable(generations: Sequence[Segment], *, may_stop: bool) -> list[list[Segment]]:
    """Runs of generations that fit one block: without gaps, and of the most documents that a generation may have.

    Unless a search may stop early, several of the largest are one block. Smaller ones are not among them: they change.
    """
    runs: list[list[Segment]] = []
    for segment in generations:
        run = runs[-1] if runs else []
        most = MAX_JOINED if segment.size > MAX_GENERATION // 2 and not may_stop else MAX_GENERATION
        if run and run[-1].end == segment.first and segment.end - run[0].first <= most:
            run.append(segment)
        else:
            runs.append([segment])
    return runs
