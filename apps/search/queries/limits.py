"""Bounds of the cost of a search."""

import time
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from apps.search.algorithms.index.conditions import (
    All,
    Any,
    Condition,
    Flags,
    IntArray,
    Named,
    Not,
    PostingSource,
    Stands,
    trial,
)
from apps.search.algorithms.index.inversion import Document
from apps.search.queries.blocks import GenerationBlock, MemoryBlock

# Of the query's own terms, admitted by its condition, that a pass of ranking reads: the newest.
MAX_POSTINGS = 1_000_000
MAX_READ = 20_000  # documents read in one search, to verify phrases
MAX_TRIED = 100_000  # evaluations of phrases; a query of many phrases reads fewer documents
READ_AT_ONCE = 1_000  # documents in memory at a time; one may have 20,000 words
MAX_READING_SECONDS = 2.0


class Limited(Condition):
    """A condition for one search, evaluated at a bounded cost: beyond it documents count as not matching.

    Blocks are evaluated from the newest to the oldest, and the newest documents of a block are read, so that only old
    ones are missed. Documents from number `until` on are excluded. With `at_once` all documents of a block are decided
    when it is first used, for several passes of ranking.
    """

    def __init__(self, condition: Condition, *, until: int | None = None, at_once: bool = False) -> None:
        self.condition = condition
        self.until = until
        self.is_partial = False
        self.tried, self.held = 0, 0  # documents read, and those of them that match
        self._at_once = at_once
        self._room = min(MAX_READ, MAX_TRIED // max(1, _phrases(condition)))
        self._deadline = time.monotonic() + MAX_READING_SECONDS
        self._known: dict[tuple[int, int], tuple[Flags, Flags]] = {}

    def terms(self) -> Iterator[int]:
        yield from self.condition.terms()

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        known = cast(GenerationBlock | MemoryBlock, block)
        key = known.first, known.size
        if key not in self._known:
            self._known[key] = self._decided(known)
        return self._known[key]

    @property
    def is_known(self) -> bool:
        return self.condition.is_known

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        flags = self.condition.among(block, offsets)
        first = cast(GenerationBlock | MemoryBlock, block).first
        return flags if self.until is None else flags & (offsets < self.until - first)

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        result = self.condition.holds(document, at, surely)
        self.tried += 1
        self.held += result
        return result

    def about(self, block: PostingSource) -> float:
        """The estimated number of matching documents of a block, by the share of those read."""
        sure, possible = self.bounds(block)
        surely = int(sure.sum())
        share = self.held / self.tried if self.tried else 1.0
        return surely + share * (int(possible.sum()) - surely)

    def _decided(self, block: GenerationBlock | MemoryBlock) -> tuple[Flags, Flags]:
        tried = trial(self.condition, block, block.alive())
        if self.until is not None and self.until < block.first + block.size:
            later = slice(max(0, self.until - block.first), None)
            tried.sure[later] = tried.possible[later] = False
        if tried.sure is tried.possible:
            return tried.sure, tried.sure
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
    """Parts that may need the words of a document."""
    match condition:
        case All(parts) | Any(parts):
            return sum(_phrases(part) for part in parts)
        case Not(part):
            return _phrases(part)
        case Stands() | Named():
            return 1
    return 0
