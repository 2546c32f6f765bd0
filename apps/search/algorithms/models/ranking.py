"""The best documents for weighted terms, block by block from the newest to the oldest."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.models.bm25 import MAX_IMPACT, MAX_PACKED, inverse_document_frequencies, points
from apps.search.algorithms.models.index import Block, FloatArray, Index, IntArray, Row, distinct
from apps.search.algorithms.models.query import Query

_BITS = 30  # of the largest sum
JUST_BELOW = 1 - 1e-4  # factor on a bound: sums are rounded, for each query differently, and multiplied
_NOTHING = np.empty(0, np.int64)
_SHARE = 0.3  # of the needed points that terms of single lookups may add at most, which limits the lookups
_LOOKUP_COST = 16  # times that of adding a posting
_SPARSE = 16  # documents of a block for each posting; in a block with fewer postings only theirs are compared


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


def bm25(index: Index, query: Query, count: int) -> Ranking:
    """BM25, each term as often as it stands in the query."""
    return ranked(index, index.numbers(list(query.terms)), np.array(list(query.terms.values()), float), count)


def ranked(index: Index, numbers: IntArray, weights: FloatArray, count: int, least: float = 0.0) -> Ranking:
    """`best` by terms that weigh this much times their rarity."""
    rarities = inverse_document_frequencies(index.document_frequencies(numbers), index.documents)
    return best(index.blocks(numbers), weights * rarities, count, least)


def best(blocks: Iterable[Block], weights: FloatArray, count: int, least: float = 0.0) -> Ranking:
    """The `count` documents with the largest ``factor * sum of weight * impact``, as far as it is above `least`.

    Parameters
    ----------
    blocks : iterable of Block
        Newest first, as `Index.blocks` gives them for the terms.
    weights : (n_terms,) array of float
        One per requested term, in the same order; may be negative.
    count : int
        At least 1.
    least : float
        At least 0. With what `count` documents are known to have, more blocks and terms are skipped.

    Notes
    -----
    A block whose bound does not reach the worst of `count` documents already found is never read: with factors that
    fade with age most old blocks are not. In the others, terms that even together are too weak for a document
    to get there are looked up only for documents with another term (MaxScore, Turtle and Flood 1995). Among equal
    scores the newer document wins, which is found first, so that no skipped document could have been in the result.
    Scores are summed as whole numbers, so that they do not depend on the order of the terms.
    """
    documents, scores = np.empty(0, np.int64), np.empty(0)  # of the best, ascending
    whole = float(np.abs(weights).sum()) * MAX_PACKED
    if not whole:
        return Ranking(documents, scores)
    scale = math.ldexp(1.0, min(_BITS - math.frexp(whole)[1], 900))  # 2**1024 would be too large for a float
    each = np.rint(np.asarray(weights, np.float64) * scale).astype(np.int64).tolist()
    scale *= MAX_PACKED / MAX_IMPACT
    room = np.zeros(0, np.int32)
    for block in blocks:
        floor = float(scores.min()) if scores.size == count else least
        needed = floor / block.largest_factor() * JUST_BELOW
        bounds = block.largest()
        if bounds is not None and float(np.maximum(weights, 0) @ bounds) <= needed:
            continue
        if room.size < block.size:
            room = np.zeros(block.size, np.int32)
        found, sums = _candidates(block, each, math.floor(needed * scale), room[: block.size])
        values = sums / scale if (worth := block.factors()) is None else sums / scale * worth[found]
        above = values > floor
        if above.any():  # the documents of older blocks have smaller numbers
            documents = np.append(found[above] + block.first, documents)
            documents, scores = _largest(documents, np.append(values[above], scores), count)
    return ranking(documents, scores)


def _candidates(
    block: Block, each: Sequence[int], needed: int, sums: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Documents of the block, as offsets, with more points than needed, and the points; `sums` is a buffer of zeros.

    `each` has a term's points for the smallest impact.
    """
    # With what a term can add to a document at most: one more, by which impacts that are not packed may be rounded up.
    terms = [
        (max(worth, 0) * row.largest + 1, row, worth)
        for row, worth in zip(block.rows(), each, strict=True)
        if row is not None and worth
    ]
    terms.sort(key=lambda term: -term[0])
    rest = list(accumulate((most for most, _, _ in reversed(terms)), initial=0))[::-1]
    essential = next(place for place, most in enumerate(rest) if most <= _SHARE * needed or place == len(terms))
    if not essential:
        return _NOTHING, sums[:0]
    least = needed - rest[essential]
    if essential == 1:
        touched = [reached := _add_above(*terms[0][1:], least, sums)]
    else:
        touched = [_add_all([row for _, row, _ in terms[:essential]], [worth for *_, worth in terms[:essential]], sums)]
        reached = _above(touched[0], sums, least)
    documents = block.allowed(reached).astype(np.int64, copy=False)
    for (_, row, worth), most in zip(terms[essential:], rest[essential + 1 :], strict=True):
        if not documents.size:
            break
        touched.append(_add(row, worth, documents, sums))
        documents = documents[sums[documents] > needed - most]
    found = sums[documents]
    _clear(sums, touched)
    return documents, found


def _above(touched: IntArray, sums: NDArray[np.int32], least: int) -> IntArray:
    """The touched documents with more points than that, ascending."""
    if touched.size * _SPARSE > sums.size:
        return np.flatnonzero(sums > least)
    return distinct(touched[sums[touched] > least])


def _clear(sums: NDArray[np.int32], touched: Sequence[IntArray]) -> None:
    if sum(part.size for part in touched) * _SPARSE > sums.size:
        sums.fill(0)
    else:
        for part in touched:
            sums[part] = 0


def _add_above(row: Row, worth: int, least: int, sums: NDArray[np.int32]) -> IntArray:
    """Add a term's points where they are more than `least`; returns these documents, ascending."""
    values = points(row.impacts, worth)
    above = np.flatnonzero(values > least)
    documents = row.documents[above].astype(np.intp)
    sums[documents] = values[above]
    return documents


def _add_all(rows: Sequence[Row], worths: Sequence[int], sums: NDArray[np.int32]) -> NDArray[np.intp]:
    """Add the points of several terms at once, since a call costs more than the postings of a rare term.

    Returns the documents, also those of several terms once for each.
    """
    documents = np.concatenate([row.documents for row in rows]).astype(np.intp)
    each = np.repeat(np.array(worths), [row.documents.size for row in rows])
    np.add.at(sums, documents, points(np.concatenate([row.impacts for row in rows]), each))
    return documents


def _add(row: Row, worth: int, documents: NDArray[np.int64], sums: NDArray[np.int32]) -> NDArray[np.intp]:
    """Add a term's points, to these documents at least; returns those that got any."""
    if documents.size * _LOOKUP_COST > row.documents.size:
        reached = row.documents.astype(np.intp)
        np.add.at(sums, reached, points(row.impacts, worth))
        return reached
    places, is_held = _places(row, documents)
    held = documents[is_held]
    sums[held] += points(row.impacts[places[is_held]], worth)  # a row holds each document once
    return held


def _places(row: Row, documents: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where documents stand in a row, and whether they do."""
    wanted = documents.astype(row.documents.dtype)
    places = row.documents.searchsorted(wanted)
    places[places == row.documents.size] = 0
    return places, row.documents[places] == wanted


def _largest(
    documents: NDArray[np.int64], scores: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The `count` largest, in the given order; among equals at the edge the newest."""
    if scores.size <= count:
        return documents, scores
    edge = np.partition(scores, scores.size - count)[scores.size - count]
    over = np.flatnonzero(scores > edge)
    equal = np.flatnonzero(scores == edge)[-(count - over.size) :]  # documents ascend
    kept = np.sort(np.append(over, equal))
    return documents[kept], scores[kept]
