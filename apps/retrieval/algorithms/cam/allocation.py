"""Which update instants are checked when only C tasks may be spent: section 4 of the paper.

Everywhere `gains[i, j] = W_i rho_ij` is what a check of page i at its update instant j saves: the page's weight times
the probability that it has changed then. Pairs that do not exist have a gain of minus infinity.
"""

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import BoolArray, FloatArray, IntArray


def best_pairs(gains: ArrayLike, tasks: int, *, least: ArrayLike = 0, most: ArrayLike | None = None) -> BoolArray:
    """The `tasks` pairs that together are worth most: the exact optimum of CAM's resource allocation.

    The objective is separable and linear, so the pairs with the largest gains are the optimum. With bounds each page
    has its `least` best ones first, then the best of the rest follow, without those of full pages; the sets that the
    bounds allow form a matroid, on which that greedy choice is exact.

    Parameters
    ----------
    gains : array (n, p)
    tasks : int
        How many are chosen, or all that the bounds allow if these are fewer.
    least, most : array (n,) or number
        Bounds of each page's checks; a page with fewer update instants than `least` has all of them.

    Returns
    -------
    array (n, p) of bool

    Raises
    ------
    ValueError
        If `tasks` do not suffice for what each page has at least.

    References
    ----------
    Pandey, Ramamritham, Chakrabarti: Monitoring the dynamic web to respond to continuous queries. WWW 2003.

    Examples
    --------
    >>> best_pairs([[0.9, 0.5, 0.4], [0.3, 0.1, 0.2]], 3).astype(int).tolist()
    [[1, 1, 1], [0, 0, 0]]
    >>> best_pairs([[0.9, 0.5, 0.4], [0.3, 0.1, 0.2]], 3, least=1, most=2).astype(int).tolist()
    [[1, 1, 0], [1, 0, 0]]
    """
    gains = np.asarray(gains, dtype=np.float64)
    n, p = gains.shape
    exists = np.isfinite(gains)
    allowed = np.broadcast_to(np.asarray(p if most is None else most), n)
    needed = np.minimum(np.broadcast_to(np.asarray(least), n), allowed)
    chosen, free = np.zeros((n, p), dtype=bool), exists
    bound = np.flatnonzero((needed > 0) | (allowed < exists.sum(axis=1)))
    if bound.size:
        rank = np.argsort(np.argsort(-gains[bound], axis=1, kind="stable"), axis=1)
        chosen[bound] = exists[bound] & (rank < needed[bound, None])
        free = exists & ~chosen
        free[bound] &= rank < allowed[bound, None]
    left = tasks - int(chosen.sum())
    if left < 0:
        raise ValueError(f"{tasks} tasks are too few: the pages need {int(chosen.sum())} at least")
    pairs = np.flatnonzero(free)
    if left < pairs.size:
        pairs = pairs[np.argsort(-gains.ravel()[pairs], kind="stable")[:left]]
    chosen.ravel()[pairs] = True
    return chosen


def with_exploration(
    gains: ArrayLike,
    doubt: ArrayLike,
    tasks: int,
    *,
    share: float,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The best pairs, but for a share of the tasks, which goes where least is known.

    Without it an update instant whose probability was once learned as nearly 0 would never be checked again.

    Parameters
    ----------
    gains, most
        As in `best_pairs`.
    doubt : array (n, p)
        What it would be worth to know more of a pair: the page's weight times the width of the posterior.
    tasks : int
        All of them, the exploring ones included.
    share : float in [0, 1]
        Of the tasks.

    Examples
    --------
    >>> with_exploration([[0.9, 0.5, 0.0]], [[0.1, 0.1, 0.3]], 2, share=0.5).astype(int).tolist()
    [[1, 0, 1]]
    """
    gains = np.asarray(gains, dtype=np.float64)
    n, p = gains.shape
    exploring = round(share * tasks)
    chosen = best_pairs(gains, tasks - exploring, most=most)
    room = np.broadcast_to(np.asarray(p if most is None else most), n) - chosen.sum(axis=1)
    rest = np.where(chosen | ~np.isfinite(gains), -np.inf, np.asarray(doubt, dtype=np.float64))
    return np.asarray(chosen | best_pairs(rest, exploring, most=room))


def without_long_gaps(chosen: ArrayLike, gains: ArrayLike, longest: ArrayLike) -> BoolArray:
    """The same checks and as few more as leave no gap longer than `longest` update instants, epochs repeating.

    Parameters
    ----------
    chosen : array (n, p) of bool
    gains : array (n, p)
        A check that fills a gap is the best of those in the later half of what may be reached.
    longest : array (n,) or number, whole, >= 1
        In update instants: from one check to the next.

    Examples
    --------
    >>> without_long_gaps([[1, 0, 0, 0, 0, 0, 0, 0]], [[9, 1, 1, 2, 1, 1, 3, 1]], 4).astype(int).tolist()
    [[1, 0, 0, 1, 0, 0, 1, 0]]
    """
    filled = np.array(chosen, dtype=bool)
    gains = np.asarray(gains, dtype=np.float64)
    n, p = filled.shape
    bounds = np.minimum(np.broadcast_to(np.asarray(longest), n), p)
    for page in np.flatnonzero(longest_gaps(filled) > bounds).tolist():
        _fill(filled[page], gains[page], int(bounds[page]))
    return filled


def longest_gaps(chosen: BoolArray) -> IntArray:
    """The longest gap between two checks of each page, in update instants, epochs repeating; p + 1 without any check.

    >>> longest_gaps(np.array([[1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]], dtype=bool)).tolist()
    [3, 7, 6]
    """
    p = chosen.shape[1]
    twice = np.concatenate((chosen, chosen), axis=1)
    latest = np.maximum.accumulate(np.where(twice, np.arange(2 * p), -1), axis=1)
    gaps = np.where(twice[:, p:], np.arange(p, 2 * p) - latest[:, p - 1 : -1], 0)
    return np.asarray(np.where(chosen.any(axis=1), gaps.max(axis=1), p + 1))


def _fill(chosen: BoolArray, gains: FloatArray, longest: int) -> None:
    p = chosen.size
    if not chosen.any():
        chosen[int(np.argmax(gains))] = True
    first = int(np.flatnonzero(chosen)[0])
    at, end = first, first + p
    while at < end:
        reach = np.arange(at + 1, at + longest + 1)
        checks = reach[chosen[reach % p]]
        if checks.size:
            at = int(checks[-1])
            continue
        late = reach[longest // 2 :]
        at = int(late[np.argmax(gains[late % p])])
        chosen[at % p] = True
