"""Checks that count also when they are late: the most distinct versions for C tasks.

CAM considers a version lost unless it is fetched at its own update instant. In fact a check after slots j'+1..j returns
the newest version, if there is one: with probability 1 - (1 - rho_j'+1) ... (1 - rho_j). The optimum is found by a
dynamic programme for each page and a greedy choice among pages.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.cam.allocation import best_pairs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Programme:
    """The best checks of one page for each number of them."""

    values: FloatArray  # (p + 1,): versions expected to be caught in an epoch by m checks; concave in m
    _latest: IntArray  # (p + 1,): the slot of the last of m checks
    _before: IntArray  # (p + 1, p): the slot of the check before the m-th in slot j

    def checks(self, count: int) -> list[int]:
        """The slots of `count` checks, ascending."""
        chosen: list[int] = []
        at = int(self._latest[count])
        for number in range(count, 0, -1):
            chosen.append(at)
            at = int(self._before[number, at])
        return chosen[::-1]


def distinct_versions(probabilities: ArrayLike) -> Programme:
    r"""The most distinct versions of one page that m checks within an epoch can catch, for every m.

    :math:`V_m(j) = \max_{j' < j} V_{m-1}(j') + 1 - \prod_{k = j'+1}^{j} (1 - \rho_k)`, the last of m checks being in
    slot j. The term is an increasing concave function of a sum over (j', j], hence inverse Monge, hence
    :math:`\max_j V_m(j)` is concave in m.

    Parameters
    ----------
    probabilities : array (p,), in [0, 1]
        That the page has changed at each of its update instants, independently, in their order.

    Examples
    --------
    >>> programme = distinct_versions([0.5, 0.5, 0.0, 0.9])
    >>> programme.values.round(3).tolist(), programme.checks(1), programme.checks(2)
    ([0.0, 0.975, 1.65, 1.9, 1.9], [3], [1, 3])
    """
    rho = np.asarray(probabilities, dtype=np.float64)
    p = rho.size
    caught = np.full((p, p), -np.inf)  # [a, j]: by a check in j after one in a - 1
    for begin in range(p):
        caught[begin, begin:] = 1 - np.cumprod(1 - rho[begin:])
    values, latest = np.zeros(p + 1), np.zeros(p + 1, dtype=np.int64)
    before = np.zeros((p + 1, p), dtype=np.int64)
    value = caught[0].copy() if p else np.empty(0)
    for count in range(1, p + 1):
        if count > 1:
            sums = value[:-1, None] + caught[1:]
            before[count] = sums.argmax(axis=0)
            value = sums.max(axis=0)
        latest[count] = value.argmax()
        values[count] = value[latest[count]]
    return Programme(values, latest, before)


def best_checks(
    weights: ArrayLike,
    probabilities: ArrayLike,
    tasks: int,
    *,
    least: ArrayLike = 0,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The `tasks` checks of all pages that catch the most distinct versions by weight.

    Each page's value is concave in its checks, so taking the largest marginal gains is exact.

    Parameters
    ----------
    weights : array (n,), >= 0
    probabilities : array (n, p), in [0, 1]
    tasks, least, most
        As in `best_pairs`.

    Returns
    -------
    array (n, p) of bool

    Examples
    --------
    >>> best_checks([1, 2], [[0.5, 0.5, 0.5], [0.1, 0.1, 0.9]], 3).astype(int).tolist()
    [[1, 0, 1], [0, 0, 1]]
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    programmes = [distinct_versions(row) for row in probabilities]
    marginal = np.array([np.diff(programme.values) for programme in programmes]).reshape(probabilities.shape)
    # Rounding must not prefer a later check to an earlier one of the same page.
    marginal = np.minimum.accumulate(marginal, axis=1) * np.asarray(weights, dtype=np.float64)[:, None]
    counts = best_pairs(marginal, tasks, least=least, most=most).sum(axis=1)
    chosen = np.zeros(probabilities.shape, dtype=bool)
    for page, (programme, count) in enumerate(zip(programmes, counts.tolist(), strict=True)):
        chosen[page, programme.checks(count)] = True
    return chosen
