"""The feedback of CAM: what the epochs until now have shown becomes the next one's probabilities, and its looks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.cam.allocation import evenly, with_exploration, without_long_gaps
from apps.retrieval.algorithms.cam.tracking import HALF_LIFE, Looks, Tracked, track

BoolArray = NDArray[np.bool_]

EXPLORED = 0.05  # share of the tasks that goes where least is known
REMEMBERED = 4 * HALF_LIFE  # epochs; what is older counts for less than a sixteenth


@dataclass(frozen=True)
class Epoch:
    """What is planned for the next epoch, and what it was planned by."""

    tracked: Tracked
    chosen: BoolArray  # (n, p)


def share_out(
    weights: ArrayLike,
    probabilities: ArrayLike,
    doubt: ArrayLike,
    tasks: int,
    *,
    longest: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The looks of an epoch: those that the longest gap demands, then the best pairs, some of them to explore.

    Parameters
    ----------
    weights : array (n,)
        W_i.
    probabilities, doubt : array (n, p)
        rho_ij and the widths of their posteriors.
    tasks : int
        More are made where the longest gap demands it.
    longest : array (n,) or number, optional
        Instants from one look at a page to the next, at most.
    most : array (n,) or number, optional
        Looks at each page.

    Examples
    --------
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4).astype(int).tolist()
    [[1, 1, 1, 1], [0, 0, 0, 0]]
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4, longest=4).astype(int).tolist()
    [[1, 1, 1, 0], [0, 1, 0, 0]]
    """
    worth = np.asarray(weights, dtype=np.float64)[:, None]
    gains, doubt = worth * np.asarray(probabilities), worth * np.asarray(doubt)
    n, p = gains.shape
    chosen = np.zeros((n, p), dtype=bool)
    if longest is not None:
        chosen = without_long_gaps(chosen, np.asarray(probabilities), longest)
    room = np.maximum(np.broadcast_to(np.asarray(p if most is None else most), n) - chosen.sum(axis=1), 0)
    left = max(tasks - int(chosen.sum()), 0)
    rest = np.where(chosen, -np.inf, gains)
    return np.asarray(chosen | with_exploration(rest, doubt, left, share=EXPLORED, most=room))


def next_epoch(
    looks: Looks, weights: ArrayLike, believed: ArrayLike, tasks: int, *, period: float, now: float
) -> Epoch:
    """Learn from all looks until now, and share out the tasks of the next epoch.

    Parameters
    ----------
    looks : Looks
        At pages 0..n-1.
    weights : array (n,)
        W_i; relevance may have been looked at anew since the former epoch.
    believed : array (n, p)
        Probabilities believed before anything is seen.
    period, now : float, hours

    Examples
    --------
    Of two pages that are alike but for what was seen, the one that never changed gets what is left over:

    >>> looks = Looks.of([0, 1], [0, 0], [2, 2], [True, False])
    >>> next_epoch(looks, [1.0, 1.0], [[0.3, 0.3]] * 2, 3, period=2.0, now=2.0).chosen.astype(int).tolist()
    [[1, 1], [1, 0]]
    """
    tracked = track(looks, believed, period=period, now=now)
    return Epoch(tracked, share_out(weights, tracked.probability, tracked.doubt, tasks))


def tracking_looks(pages: int, instants: int, tasks: int, random: np.random.Generator) -> BoolArray:
    """The looks of an epoch of the tracking period: at every page as often, at other instants each time.

    >>> tracking_looks(2, 6, 6, np.random.default_rng(0)).sum(axis=1).tolist()
    [3, 3]
    """
    counts = np.full(pages, tasks // pages)
    counts[random.permutation(pages)[: tasks % pages]] += 1
    return evenly(np.minimum(counts, instants), instants, random)
