"""From scored terms to a list: the longest of overlapping phrases, the best term of each story."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_LONGER = 400  # best terms among which longer phrases are searched
MAX_COVERED = 300  # best terms that can be chosen
KEPT_BY_LONGER = 0.5  # share of a term's documents that a longer phrase needs to replace it
COVERED = 0.3  # share of a term's documents with chosen terms from which it is redundant
MAX_RELATED = 8


class Choice(NamedTuple):
    """A chosen term, and redundant terms with the same documents, by index."""

    term: int
    related: tuple[int, ...]


def choose(
    scores: NDArray[np.float64],
    held_by: Sequence[NDArray[np.int64]],
    keys: Sequence[str],
    *,
    most: int,
    cut: float = 0.0,
    cover: bool = True,
) -> list[Choice]:
    """The best terms, at most `most`, each with related terms.

    A term is replaced by the longest phrase containing it that has half of its documents. In order of score, a term is
    skipped if 30 % of its documents have chosen terms, and becomes related to the one that has most of them.

    Parameters
    ----------
    scores : (n_terms,) ndarray of float
        Terms at or below 0 are never chosen.
    held_by : sequence of ndarray of int
        The documents of each term, ascending.
    keys : sequence of str
        Words separated by spaces.
    most : int
    cut : float
        Minimum score.
    cover : bool
        If False, a term is only skipped if its words contain those of a chosen one, or are contained in them.

    Examples
    --------
    >>> held_by = [np.array(each) for each in ([0, 1, 2, 3], [0, 1, 2], [0, 3], [7, 8, 9])]
    >>> choose(np.array([5.0, 4.0, 3.0, 2.0]), held_by, ["cup", "world cup", "goal", "storm"], most=9)
    [Choice(term=1, related=(2,)), Choice(term=3, related=())]
    """
    order = [int(term) for term in np.argsort(-scores, kind="stable")[:MAX_LONGER] if scores[term] > 0]
    longest = _longest(order, held_by, keys)
    related: dict[int, list[int]] = {}  # by chosen term, in order
    holding: dict[int, list[int]] = {}  # chosen terms by document
    for term in order[:MAX_COVERED]:
        if scores[term] < cut:
            break
        shown = longest[term]
        if shown in related:
            continue
        nearest = _nearest(held_by[shown], holding) if cover else _overlapping(keys[shown], related, keys)
        if nearest is not None:
            related[nearest].append(shown)
        elif len(related) < most:
            related[shown] = []
            for document in held_by[shown].tolist():
                holding.setdefault(document, []).append(shown)
    return [Choice(term, _distinct(term, others, keys)) for term, others in related.items()]


def _longest(order: Sequence[int], held_by: Sequence[NDArray[np.int64]], keys: Sequence[str]) -> dict[int, int]:
    """For each term the longest phrase containing it that has most of its documents, or itself."""
    around: dict[str, list[int]] = {}
    for term in order:
        for part in _parts(keys[term]):
            around.setdefault(part, []).append(term)
    longest = {}
    for term in order:
        enough = KEPT_BY_LONGER * len(held_by[term])
        holding = [
            other
            for other in around[keys[term]]
            if len(np.intersect1d(held_by[term], held_by[other], assume_unique=True)) >= enough
        ]
        longest[term] = max([term, *holding], key=lambda other: keys[other].count(" "))
    return longest


def _parts(key: str) -> set[str]:
    """A phrase and all phrases in it."""
    words = key.split(" ")
    return {" ".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}


def _nearest(documents: NDArray[np.int64], holding: Mapping[int, Sequence[int]]) -> int | None:
    """The chosen term with most of these documents, if enough of them have any."""
    held = [chosen for document in documents.tolist() if (chosen := holding.get(document))]
    if not held or len(held) < COVERED * len(documents):
        return None
    return Counter(chain.from_iterable(held)).most_common(1)[0][0]


def _overlapping(key: str, chosen: Iterable[int], keys: Sequence[str]) -> int | None:
    parts = _parts(key)
    return next((term for term in chosen if keys[term] in parts or key in _parts(keys[term])), None)


def _distinct(term: int, others: Sequence[int], keys: Sequence[str]) -> tuple[int, ...]:
    """Related terms that overlap neither the term nor one another."""
    kept: list[int] = []
    covered = _parts(keys[term])
    for other in dict.fromkeys(others):
        if not covered & _parts(keys[other]):
            kept.append(other)
            covered |= _parts(keys[other])
    return tuple(kept[:MAX_RELATED])
