"""Which of the possible instants are used when only C tasks may be spent: section 4 of the paper, and what it beats.

Everywhere `gains[i, j] = W_i rho_ij` is what a look at page i at its update instant j saves: the page's weight times
the probability that it has changed then. Pairs that do not exist have a gain of minus infinity.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


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
        Bounds of each page's looks; a page with fewer instants than `least` has all of them.

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

    Without it an instant whose probability was once learnt as nearly 0 would never be looked at again.

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


def uniform(pages: int, instants: int, tasks: int) -> IntArray:
    """The same number of looks at every page, whole and as large as `tasks` permit, shape (pages,).

    >>> uniform(3, 24, 8).tolist()
    [2, 2, 2]
    """
    return np.full(pages, min(tasks // pages, instants), dtype=np.int64)


def proportional(weights: ArrayLike, instants: int, tasks: int, *, spend_all: bool = False) -> IntArray:
    """Looks in proportion to weights, whole, and of no page more than it has instants; shape (n,).

    Parameters
    ----------
    weights : array (n,), not all 0
        The pages' weights, or these times their change frequencies.
    instants : int
        Of each page.
    spend_all : bool
        Whether what a page cannot use goes to the others, again in proportion, and so do the fractions. Otherwise it is
        left unspent, as the plain rule does.

    Examples
    --------
    >>> proportional([8, 1, 1], 4, 10).tolist(), proportional([8, 1, 1], 4, 10, spend_all=True).tolist()
    ([4, 1, 1], [4, 3, 3])
    """
    weights = np.asarray(weights, dtype=np.float64)
    wishes = weights / weights.sum() * tasks
    if not spend_all:
        return np.asarray(np.minimum(np.floor(wishes), instants), dtype=np.int64)
    full = np.zeros(weights.size, dtype=bool)
    while (over := ~full & (wishes > instants)).any():
        full |= over
        rest = np.where(full, 0.0, weights)
        spread = rest / rest.sum() * (tasks - instants * full.sum()) if rest.any() else rest
        wishes = np.where(full, instants, spread)
    counts = np.floor(wishes)
    missing = round(wishes.sum() - counts.sum())
    counts[np.argsort(counts - wishes, kind="stable")[:missing]] += 1
    return np.asarray(counts, dtype=np.int64)


def evenly(counts: ArrayLike, instants: int, random: np.random.Generator) -> BoolArray:
    """So many looks at each page, evenly spaced among its instants with a random phase, shape (n, instants).

    >>> evenly([1, 3, 6], 6, np.random.default_rng(0)).sum(axis=1).tolist()
    [1, 3, 6]
    """
    counts = np.asarray(counts, dtype=np.int64)
    chosen = np.zeros((counts.size, instants), dtype=bool)
    for page, (count, phase) in enumerate(zip(counts.tolist(), random.random(counts.size), strict=True)):
        chosen[page, np.floor((np.arange(count) + phase) * instants / max(count, 1)).astype(np.int64)] = True
    return chosen


def without_long_gaps(chosen: ArrayLike, gains: ArrayLike, longest: ArrayLike) -> BoolArray:
    """The same looks and as few more as it takes that no gap is longer than `longest` instants, epochs repeating.

    Parameters
    ----------
    chosen : array (n, p) of bool
    gains : array (n, p)
        A look that fills a gap is the best of those in the later half of what may be reached.
    longest : array (n,) or number, whole, >= 1
        In instants: from one look to the next.

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
    """The longest gap between two looks at each page, in instants, epochs repeating; p + 1 where there is no look.

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
        looks = reach[chosen[reach % p]]
        if looks.size:
            at = int(looks[-1])
            continue
        late = reach[longest // 2 :]
        at = int(late[np.argmax(gains[late % p])])
        chosen[at % p] = True
