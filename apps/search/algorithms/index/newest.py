"""The newest documents that meet a condition, found without reading most others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import Trial
from apps.search.algorithms.index.inversion import Attributes

READ_AT_ONCE = 64  # undecided documents whose words are read at first; doubled each time


@dataclass(frozen=True, slots=True, order=True)
class Found:
    published: int  # microseconds since 1970
    posting_id: int
    document: int


class DatedBlock(Protocol):
    first: int
    latest: int  # no publication in it is later; microseconds since 1970

    @property
    def attributes(self) -> Attributes: ...

    def trial(self) -> Trial: ...


def newest(blocks: Iterable[DatedBlock], count: int) -> list[Found]:
    """The `count` documents published last that meet the blocks' condition, the newest first.

    Among equal times the larger posting id is newer. A block whose latest publication is older than the last of `count`
    documents found is skipped. Edits and late arrivals put old postings among new documents, so the order of the blocks
    alone does not suffice.
    """
    found: list[Found] = []
    for block in sorted(blocks, key=lambda block: (-block.latest, -block.first)):
        if len(found) == count and found[-1].published > block.latest:
            break
        floor = found[-1] if len(found) == count else None
        found = sorted([*found, *_in_block(block, count, floor)], reverse=True)[:count]
    return found


def _in_block(block: DatedBlock, count: int, floor: Found | None) -> list[Found]:
    """Those of one block, from its end, where the newest are except for late arrivals."""
    tried = block.trial()
    offsets = np.flatnonzero(tried.possible)
    if not offsets.size:
        return []
    known = block.attributes
    if floor is not None:
        offsets = offsets[known.published[offsets] >= floor.published]
    latest = np.maximum.accumulate(known.published[offsets])  # up to each of them
    found: list[Found] = []
    end, step = offsets.size, max(READ_AT_ONCE, count)
    while end and not (len(found) == count and found[-1].published > latest[end - 1]):
        piece = offsets[max(0, end - step) : end]
        held = _latest(known, piece[tried.decide(piece)], count)
        found = sorted([*found, *(_found(block, known, offset) for offset in held)], reverse=True)[:count]
        end, step = end - piece.size, 2 * step
    return found


def _latest(known: Attributes, offsets: NDArray[np.intp], count: int) -> list[int]:
    """The `count` documents published last, with ties of the last one."""
    if offsets.size > count:
        published = known.published[offsets]
        offsets = offsets[published >= np.partition(published, offsets.size - count)[offsets.size - count]]
    return [int(offset) for offset in offsets]


def _found(block: DatedBlock, known: Attributes, offset: int) -> Found:
    return Found(int(known.published[offset]), int(known.posting_ids[offset]), block.first + offset)
