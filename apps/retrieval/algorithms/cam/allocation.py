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


EXPLORED = 0.05  # share of the tasks that goes where least is known


def share_out(
    weights: ArrayLike,
    probabilities: ArrayLike,
    doubt: ArrayLike,
    tasks: int,
    *,
    share: float = EXPLORED,
    longest: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The checks of an epoch: the best pairs, except for a share of the tasks, which explores the least known pairs.

    Without it an update instant whose probability was once learned as nearly 0 would never be checked again.

    Parameters
    ----------
    weights : array (n,)
        W_i.
    probabilities, doubt : array (n, p)
        rho_ij and the widths of their posteriors.
    tasks : int
        All of them, the exploring ones included; more are made where the longest gap demands it.
    share : float in [0, 1]
        Of the tasks.
    longest, most
        As in `best_pairs_without_long_gaps`; without a longest gap any gap is allowed.

    Examples
    --------
    >>> share_out([1.0], [[0.9, 0.5, 0.0]], [[0.1, 0.1, 0.3]], 2, share=0.5).astype(int).tolist()
    [[1, 0, 1]]
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4).astype(int).tolist()
    [[1, 1, 1, 1], [0, 0, 0, 0]]
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4, longest=4).astype(int).tolist()
    [[1, 1, 1, 0], [0, 1, 0, 0]]
    """
    worth = np.asarray(weights, dtype=np.float64)[:, None]
    gains, doubt = worth * np.asarray(probabilities), worth * np.asarray(doubt)
    n, p = gains.shape
    exploring = round(share * tasks)
    if longest is None:
        chosen = best_pairs(gains, tasks - exploring, most=most)
    else:
        chosen = best_pairs_without_long_gaps(gains, tasks - exploring, longest, most=most)
    room = np.maximum(np.broadcast_to(np.asarray(p if most is None else most), n) - chosen.sum(axis=1), 0)
    rest = np.where(chosen | ~np.isfinite(gains), -np.inf, doubt)
    left = min(exploring, max(tasks - int(chosen.sum()), 0))
    return np.asarray(chosen | best_pairs(rest, left, most=room))


ANCHORS = 8  # slots tried as the first check of a page none of whose slots is worth its price
HALVINGS = 50  # of the ratio of two prices
CLOSE_ENOUGH = 1_000  # as many tasks for one that is shared out in another way


def best_pairs_without_long_gaps(
    gains: ArrayLike, tasks: int, longest: ArrayLike, *, most: ArrayLike | None = None
) -> BoolArray:
    """The pairs that together are worth most where no gap may be longer than `longest` slots, epochs repeating.

    At a price of a check a page has every slot that is worth more, and between these the checks that fill its gaps
    at the least loss. The price is the one at which all pages together have `tasks` checks. What a page gains by its
    m best checks is concave in m, as each constraint concerns consecutive slots (a totally unimodular programme), so
    one price for all pages gives the optimum, up to ties.

    Parameters
    ----------
    gains : array (n, p), finite
    tasks : int
        More are made where the longest gap demands it.
    longest : array (n,) or number, whole, >= 1
        In update instants: from one check to the next.
    most : array (n,) or number
        Checks of a page, unless the longest gap demands more.

    Examples
    --------
    >>> best_pairs_without_long_gaps([[9, 1, 1, 2, 1, 1, 3, 1]], 3, 4).astype(int).tolist()
    [[1, 0, 0, 1, 0, 0, 1, 0]]
    """
    gains = np.asarray(gains, dtype=np.float64)
    n, p = gains.shape
    bounds = np.minimum(np.broadcast_to(np.asarray(longest, dtype=np.int64), n), p)
    allowed = np.broadcast_to(np.asarray(p if most is None else most, dtype=np.int64), n)
    dearest = gains.sum(axis=1) + 1.0  # at which a page has as few checks as possible
    floor = np.zeros(n)  # the price at which a page has no more checks than allowed
    limited = np.flatnonzero(allowed < p)
    floor[limited] = _prices_at_most(gains[limited], bounds[limited], allowed[limited], dearest[limited])
    chosen = _at_prices(gains, dearest, bounds)
    dear, cheap = float(dearest.max(initial=1.0)), float(gains[gains > 0].min(initial=1.0)) / 2
    for halving in range(HALVINGS if chosen.sum() < tasks else 0):
        price = cheap if halving == 0 else float(np.sqrt(dear * cheap))
        found = _at_prices(gains, np.maximum(price, floor), bounds)
        left = tasks - int(found.sum())
        if left < 0:
            cheap = price
            continue
        dear, chosen = price, found
        if halving == 0 or left <= tasks // CLOSE_ENOUGH:
            break
    room = np.maximum(allowed - chosen.sum(axis=1), 0)
    rest = best_pairs(np.where(chosen, -np.inf, gains), max(tasks - int(chosen.sum()), 0), most=room)
    return np.asarray(chosen | rest)


def _prices_at_most(gains: FloatArray, longest: IntArray, most: IntArray, dearest: FloatArray) -> FloatArray:
    """The least price at which each page has at most so many checks."""
    dear, cheap = dearest, np.zeros(len(gains))
    for _ in range(HALVINGS if len(gains) else 0):
        middle = (dear + cheap) / 2
        fits = _at_prices(gains, middle, longest).sum(axis=1) <= most
        dear, cheap = np.where(fits, middle, dear), np.where(fits, cheap, middle)
    return dear


def _at_prices(gains: FloatArray, prices: FloatArray, longest: IntArray) -> BoolArray:
    """The checks of each page at its own price of a check: those worth more, and the best that fill gaps."""
    values = gains - prices[:, None]
    chosen, best = values > 0, values.argmax(axis=1)
    has_gap = longest_gaps(chosen) > longest
    is_sure = values[np.arange(len(values)), best] > 0
    sure, unsure = np.flatnonzero(has_gap & is_sure), np.flatnonzero(has_gap & ~is_sure)
    # Any stretch as long as the longest gap has a check: the likeliest slots of one are tried as the first.
    within = np.where(np.arange(values.shape[1]) < longest[unsure, None], values[unsure], -np.inf)
    tried = np.argsort(-within, axis=1, kind="stable")[:, :ANCHORS]
    for pages, firsts in ((sure, best[sure, None]), (unsure, tried)):
        most = np.full(len(pages), -np.inf)
        for first in firsts.T:
            filled, worth = _filled(values[pages], first, longest[pages])
            better = worth > most
            chosen[pages[better]], most[better] = filled[better], worth[better]
    return chosen


def _filled(values: FloatArray, first: IntArray, longest: IntArray) -> tuple[BoolArray, FloatArray]:
    """The checks of each page, `first` among them, that are worth most without a longer gap; and their worth."""
    n, p = values.shape
    pages = np.arange(n)
    rolled = np.take_along_axis(values, (np.arange(p) + first[:, None]) % p, axis=1).T
    worth, before = np.zeros((p + 1, n)), np.zeros((p + 1, n), dtype=np.int64)
    worth[0] = rolled[0]
    reach, is_mixed = int(longest.max(initial=1)), bool((longest != longest[:1]).any())
    for at in range(1, p + 1):
        begin = max(at - reach, 0)
        former = worth[begin:at]
        if is_mixed:
            former = np.where(np.arange(begin, at)[:, None] < at - longest, -np.inf, former)
        place = former.argmax(axis=0)
        before[at] = begin + place
        worth[at] = former[place, pages] + (rolled[at] if at < p else 0.0)
    chosen, ends = np.zeros((n, p), dtype=bool), before[p]
    while True:
        chosen[pages, (ends + first) % p] = True
        if not ends.any():
            return chosen, worth[p]
        ends = before[ends, pages]


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
