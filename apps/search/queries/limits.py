"""What a search may cost, whatever is asked."""

import time
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from apps.search.algorithms.index.conditions import All, Any, Condition, Flags, Named, Not, PostingSource, Stands, trial
from apps.search.algorithms.index.inversion import Document
from apps.search.queries.blocks import GenerationBlock, MemoryBlock

MAX_READ = 20_000  # documents in one search, to see whether words stand next to each other
MAX_TRIED = 100_000  # phrases on documents; a query of many phrases reads fewer documents
READ_AT_ONCE = 1_000  # documents in memory at a time; one may have 20,000 words
MAX_READING_SECONDS = 2.0  # seconds


class Limited:
    """A condition as far as it can be decided at a bounded cost; in the end some documents are not looked at.

    Blocks are asked for from the newest to the oldest, and within a block the newest documents are read, so that what
    is missed is old. Of one search only: it counts what it read.

    Parameters
    ----------
    condition : Condition
    until : int, optional
        Documents of this number and later are not there.
    at_once : bool
        Whether all documents of a block will have to be decided, as ranking has to, and not only some: then each is
        read once for any number of passes.
    """

    def __init__(self, condition: Condition, *, until: int | None = None, at_once: bool = False) -> None:
        self.condition = condition
        self.until = until
        self.is_partial = False
        self.tried, self.held = 0, 0  # documents that were read, and those of them for which it holds
        self._at_once = at_once
        self._room = min(MAX_READ, MAX_TRIED // max(1, _phrases(condition)))
        self._deadline = time.monotonic() + MAX_READING_SECONDS
        self._known: dict[tuple[int, int], tuple[Flags, Flags]] = {}

    def terms(self) -> Iterator[int]:
        yield from self.condition.terms()

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        asked = cast(GenerationBlock | MemoryBlock, block)
        key = asked.first, asked.size
        if key not in self._known:
            self._known[key] = self._looked_at(asked)
        return self._known[key]

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        answer = self.condition.holds(document, at, surely)
        self.tried += 1
        self.held += answer
        return answer

    def about(self, block: PostingSource) -> float:
        """For how many of a block's documents it holds, by the share of those that were read."""
        sure, possible = self.bounds(block)
        surely = int(sure.sum())
        share = self.held / self.tried if self.tried else 1.0
        return surely + share * (int(possible.sum()) - surely)

    def _looked_at(self, block: GenerationBlock | MemoryBlock) -> tuple[Flags, Flags]:
        tried = trial(self.condition, block, block.alive())
        if self.until is not None and self.until < block.first + block.size:
            later = slice(max(0, self.until - block.first), None)
            tried.sure[later] = tried.possible[later] = False
        unsure = np.flatnonzero(tried.possible & ~tried.sure)
        room = self._room - self.tried if time.monotonic() < self._deadline else 0
        if unsure.size > room:
            self.is_partial = True
            tried.possible[unsure[: unsure.size - max(room, 0)]] = False
            unsure = unsure[unsure.size - max(room, 0) :]
        if not self._at_once:
            return tried.sure, tried.possible
        for end in range(unsure.size, 0, -READ_AT_ONCE):
            piece = unsure[max(0, end - READ_AT_ONCE) : end]
            if time.monotonic() > self._deadline:
                self.is_partial = True
                tried.possible[unsure[:end]] = False
                break
            self.held += int(tried.decide(piece).sum())
            self.tried += piece.size
        return tried.sure, tried.sure


def _phrases(condition: Condition) -> int:
    """Parts that may have to be tried on the words of a document."""
    match condition:
        case All(parts) | Any(parts):
            return sum(_phrases(part) for part in parts)
        case Not(part):
            return _phrases(part)
        case Stands() | Named():
            return 1
    return 0
