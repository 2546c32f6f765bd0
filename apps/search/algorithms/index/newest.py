"""The newest documents for which a condition holds, found without looking at most of the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
    tried = block.trial()
    offsets = np.flatnonzero(tried.possible)
    if not offsets.size:
        return []
    known = block.attributes()
    if floor is not None:
        offsets = offsets[known.published[offsets] >= floor.published]
    found: list[Found] = []
    step = max(READ_AT_ONCE, count)
    while offsets.size and len(found) < count:
        piece, offsets = _latest(known, offsets, step)
        found += [
            Found(int(known.published[offset]), int(known.posting_ids[offset]), int(block.first + offset))
            for offset in piece[tried.decide(piece)]
        ]
        step *= 2
    return found[:count]


def _latest(known: Attributes, offsets: NDArray[np.intp], step: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """At least `step` of the documents, if there are as many, that were published last, in order; and the others."""
    published = known.published[offsets]
    is_piece = np.ones(offsets.size, np.bool_)
    if offsets.size > step:
        is_piece = published >= np.partition(published, offsets.size - step)[offsets.size - step]
    piece = offsets[is_piece]
    order = np.lexsort((known.posting_ids[piece], known.published[piece]))
    return piece[order[::-1]], offsets[~is_piece]
