"""The allocation of an epoch: the checks that probabilities learned until now make worth most."""

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import BoolArray
from apps.retrieval.algorithms.cam.allocation import with_exploration
from apps.retrieval.algorithms.cam.tracking import HALF_LIFE

EXPLORED = 0.05  # share of the tasks that goes where least is known
KEPT_EPOCHS = 4 * HALF_LIFE  # epochs; older observations count less than a sixteenth


def share_out(
    weights: ArrayLike,
    probabilities: ArrayLike,
    doubt: ArrayLike,
    tasks: int,
    *,
    longest: ArrayLike | None = None,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The checks of an epoch: the best pairs that leave no gap longer than the longest, some of them to explore.

    Parameters
    ----------
    weights : array (n,)
        W_i.
    probabilities, doubt : array (n, p)
        rho_ij and the widths of their posteriors.
    tasks : int
        More are made where the longest gap demands it.
    longest : array (n,) or number, optional
        Update instants from one check of a page to the next, at most.
    most : array (n,) or number, optional
        Checks of each page.

    Examples
    --------
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4).astype(int).tolist()
    [[1, 1, 1, 1], [0, 0, 0, 0]]
    >>> share_out([1.0, 0.1], [[0.1, 0.9, 0.8, 0.1]] * 2, [[0.0] * 4] * 2, 4, longest=4).astype(int).tolist()
    [[1, 1, 1, 0], [0, 1, 0, 0]]
    """
    worth = np.asarray(weights, dtype=np.float64)[:, None]
    gains, doubt = worth * np.asarray(probabilities), worth * np.asarray(doubt)
    return with_exploration(gains, doubt, tasks, share=EXPLORED, longest=longest, most=most)
