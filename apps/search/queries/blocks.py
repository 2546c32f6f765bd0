"""Generations and the tail as ranking, conditions and lists of the newest see them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import ALWAYS, Attributes, Trial, trial
from apps.search.algorithms.index.inversion import Document
from apps.search.algorithms.index.tail import Chunk
from apps.search.algorithms.models.bm25 import K1, LARGEST_PACKED
from apps.search.algorithms.models.index import FloatArray, IntArray, Row
from apps.search.queries import stored
from apps.search.queries.stored import Sealed

if TYPE_CHECKING:
    from apps.search.queries.snapshot import Snapshot

NOTHING = np.empty(0, np.int64)


class Reader:
    """Reads the rows of some terms, of a few generations at a time: one look-up more costs less than a round trip."""

    def __init__(self, generations: Sequence[Sealed], terms: Sequence[int], *, at_once: int) -> None:
        self._waiting = [sealed.id for sealed in generations]
        self._terms = terms
        self._at_once = max(at_once, 1)
        self._rows: dict[tuple[int, int], Row | None] = {}
        self._largest: dict[tuple[int, int], int] | None = None

    def row(self, generation: int, term: int) -> Row | None:
        if generation in self._waiting:
            start = self._waiting.index(generation)
            chosen = self._waiting[start : start + self._at_once]
            del self._waiting[start : start + self._at_once]
            self._rows |= stored.rows(chosen, self._terms)
        return self._rows[generation, term]

    def largest(self, generation: int, term: int) -> int:
        if self._largest is None:
            self._largest = stored.largest(self._waiting, self._terms)
        return self._largest.get((generation, term), 0)


class _Block:
    """What blocks of both kinds share: which of their documents may be found, and what scores are multiplied by."""

    first: int
    size: int
    latest: int

    def __init__(self, snapshot: "Snapshot") -> None:
        self._snapshot = snapshot
        self._trial: Trial | None = None

    def attributes(self) -> Attributes:
        raise NotImplementedError

    def alive(self) -> NDArray[np.bool_] | None:
        raise NotImplementedError

    def holding(self, term: int) -> IntArray:
        raise NotImplementedError

    def read(self, offsets: IntArray) -> list[Document]:
        raise NotImplementedError

    def trial(self) -> Trial:
        if self._trial is None:
            self._trial = trial(self._snapshot.condition, self, self.alive())
        return self._trial

    def allowed(self) -> NDArray[np.bool_] | None:
        if self._snapshot.condition == ALWAYS:
            return self.alive()
        tried = self.trial()
        tried.decide(np.flatnonzero(tried.possible))
        return tried.sure

    def factors(self) -> FloatArray | None:
        worth = self._snapshot.worth
        return worth.factors(self.attributes()) if worth else None

    def largest_factor(self) -> float:
        worth = self._snapshot.worth
        return worth.largest(self.latest) if worth else 1.0


class GenerationBlock(_Block):
    def __init__(
        self, snapshot: "Snapshot", sealed: Sealed, terms: Sequence[int], reader: Reader, conditions: Reader
    ) -> None:
        super().__init__(snapshot)
        self.first, self.size, self.latest = sealed.first, sealed.size, sealed.latest
        self._sealed, self._terms = sealed, terms
        self._reader, self._conditions = reader, conditions

    def largest(self) -> FloatArray | None:
        if self._snapshot.worth is None:
            return None  # without factors hardly any generation can be left out
        found = [self._reader.largest(self._sealed.id, term) for term in self._terms]
        return np.array(found) * ((K1 + 1) / LARGEST_PACKED)

    def rows(self) -> Sequence[Row | None]:
        return [self._reader.row(self._sealed.id, term) for term in self._terms]

    def attributes(self) -> Attributes:
        return self._snapshot.columns(self._sealed).attributes

    def alive(self) -> NDArray[np.bool_] | None:
        return self._snapshot.columns(self._sealed).alive if self._sealed.dead_count else None

    def holding(self, term: int) -> IntArray:
        row = self._conditions.row(self._sealed.id, term)
        return row.documents if row else NOTHING

    def read(self, offsets: IntArray) -> list[Document]:
        return self._snapshot.read(offsets + self.first)


class TailBlock(_Block):
    def __init__(self, snapshot: "Snapshot", chunk: Chunk, terms: Sequence[int]) -> None:
        super().__init__(snapshot)
        self.first, self.size = chunk.first, chunk.size
        self.latest = int(chunk.attributes.published.max(initial=0))
        self._chunk, self._terms = chunk, terms

    def largest(self) -> FloatArray | None:
        return None

    def rows(self) -> Sequence[Row | None]:
        return [self._chunk.row(term, self._snapshot.average_length) for term in self._terms]

    def attributes(self) -> Attributes:
        return self._chunk.attributes

    def alive(self) -> NDArray[np.bool_] | None:
        return self._chunk.alive

    def holding(self, term: int) -> IntArray:
        return self._chunk.inversion.documents[self._chunk.inversion.place(term)]

    def read(self, offsets: IntArray) -> list[Document]:
        found = [self._chunk.documents[offset] for offset in offsets.tolist()]
        return [document for document in found if document is not None]


Blocks = list[GenerationBlock | TailBlock]
