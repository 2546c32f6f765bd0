"""The best documents for weighted terms, block by block from the newest to the oldest."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import weighted
from apps.search.algorithms.models.index import Block, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Ranking:
    """Documents from the best to the worst, of equal ones the newest first."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return self.documents.size

    def first(self, count: int) -> "Ranking":
        return Ranking(self.documents[:count], self.scores[:count])


def ranking(documents: IntArray, scores: FloatArray) -> Ranking:
    """Any documents with their scores, put in order.

    >>> ranking(np.array([3, 5, 4]), np.array([1.0, 1.0, 2.0])).documents.tolist()
    [4, 5, 3]
    """
    numbers, values = np.asarray(documents, np.int64), np.asarray(scores, np.float64)
    order = np.lexsort((-numbers, -values))
    return Ranking(numbers[order], values[order])


def best(blocks: Iterable[Block], weights: FloatArray, count: int) -> Ranking:
    """The `count` documents with the largest ``factor * sum of weight * impact``, as far as it is above 0.

    Parameters
    ----------
    blocks : iterable of Block
        Newest first, as `Index.blocks` gives them for the terms.
    weights : (n_terms,) array of float
        One per term asked for, in the same order; may be negative.
    count : int
        At least 1.

    Notes
    -----
    A block whose bound does not reach the worst of `count` documents already found is never read: with factors that
    fade with age most old blocks are not. Equal scores are won by the newer document, which is the one found first, so
    that nothing that was skipped could have been in the answer.
    """
    positive = np.maximum(weights, 0)
    found = Ranking(np.empty(0, np.int64), np.empty(0))
    room = np.empty(0, np.float32)
    for block in blocks:
        floor = float(found.scores[-1]) if len(found) == count else 0.0
        bounds = block.largest()
        # Scores are summed in 32 bits: a bound in 64 bits must not be beaten by their rounding.
        if bounds is not None and 1.00001 * float(positive @ bounds) * block.largest_factor() <= floor:
            continue
        if room.size < block.size:
            room = np.empty(block.size, np.float32)
        scores = _scores(block, weights, room[: block.size])
        above = np.flatnonzero(scores > floor)
        if above.size:
            documents, values = _largest(above + block.first, scores[above].astype(np.float64), count)
            found = ranking(np.append(found.documents, documents), np.append(found.scores, values)).first(count)
    return found


def _scores(block: Block, weights: FloatArray, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    scores[:] = 0
    for row, weight in zip(block.rows(), weights, strict=True):
        if row is not None and weight:
            scores[row.documents] += weighted(row.impacts, weight)  # a row holds each document once
    factors, allowed = block.factors(), block.allowed()
    if factors is not None:
        scores *= factors
    if allowed is not None:
        scores[~allowed] = 0
    return scores


def _largest(
    documents: NDArray[np.int64], scores: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` largest in any order; among equals at the edge the newest."""
    if scores.size <= count:
        return documents, scores
    edge = np.partition(scores, scores.size - count)[scores.size - count]
    over = np.flatnonzero(scores > edge)
    equal = np.flatnonzero(scores == edge)[-(count - over.size) :]  # documents ascend
    kept = np.append(over, equal)
    return documents[kept], scores[kept]
