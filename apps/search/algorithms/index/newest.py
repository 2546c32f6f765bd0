"""The newest documents for which a condition holds, found without looking at most of the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from apps.search.algorithms.index.conditions import Attributes, Trial

READ_AT_ONCE = 64  # documents whose words are read because arrays could not decide; twice as many each time


@dataclass(frozen=True, slots=True, order=True)
class Found:
    published: int  # microseconds since 1970
    posting_id: int
    document: int


class DatedBlock(Protocol):
    first: int
    latest: int  # no publication in it is later; microseconds since 1970

    def attributes(self) -> Attributes: ...

    def trial(self) -> Trial: ...


def newest(blocks: Iterable[DatedBlock], count: int) -> list[Found]:
    """The `count` documents published last among those that the blocks' condition holds for, the newest first.

    Of equal times the larger number of the posting counts as newer. A block whose latest publication is older than the
    last of `count` documents already found is not looked at: edits and late arrivals may have brought old postings
    among new documents, so that the order of the blocks alone decides nothing.
    """
    found: list[Found] = []
    for block in sorted(blocks, key=lambda block: (-block.latest, -block.first)):
        if len(found) == count and found[-1].published > block.latest:
            break
        floor = found[-1] if len(found) == count else None
        found = sorted([*found, *_in_block(block, count, floor)], reverse=True)[:count]
    return found


def _in_block(block: DatedBlock, count: int, floor: Found | None) -> list[Found]:
    tried, known = block.trial(), block.attributes()
    offsets = np.flatnonzero(tried.possible)
    if floor is not None:
        offsets = offsets[known.published[offsets] >= floor.published]
    if not offsets.size:
        return []
    order = np.lexsort((known.posting_ids[offsets], known.published[offsets]))
    offsets = offsets[order[::-1]]
    found: list[Found] = []
    start, step = 0, max(READ_AT_ONCE, count)
    while start < offsets.size and len(found) < count:
        piece = offsets[start : start + step]
        found += [
            Found(int(known.published[offset]), int(known.posting_ids[offset]), int(block.first + offset))
            for offset in piece[tried.decide(piece)]
        ]
        start, step = start + step, 2 * step
    return found[:count]
