"""Looks that count also when they are late: as many distinct versions as C tasks can bring.

CAM takes a version for lost unless it is fetched at its own instant. In truth a look after instants j'+1..j returns the
newest version, if there was any: with probability 1 - (1 - rho_j'+1) ... (1 - rho_j). What is best then is found by a
dynamic programme for each page, and by the greedy choice among pages.
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
    """The best looks at one page for each number of them."""

    values: FloatArray  # (p + 1,): versions expected to be caught in an epoch by m looks; concave in m
    _latest: IntArray  # (p + 1,): where the last of m looks is
    _before: IntArray  # (p + 1, p): where the look before the m-th is, if that is at instant j

    def looks(self, count: int) -> list[int]:
        """The instants of so many looks, ascending."""
        chosen: list[int] = []
        at = int(self._latest[count])
        for number in range(count, 0, -1):
            chosen.append(at)
            at = int(self._before[number, at])
        return chosen[::-1]


def distinct_versions(probabilities: ArrayLike) -> Programme:
    r"""The most distinct versions of one page that m looks within an epoch can bring, for every m.

    :math:`V_m(j) = \max_{j' < j} V_{m-1}(j') + 1 - \prod_{k = j'+1}^{j} (1 - \rho_k)`, the last of m looks being at
    instant j. The term is an increasing concave function of a sum over (j', j], hence inverse Monge, hence
    :math:`\max_j V_m(j)` is concave in m.

    Parameters
    ----------
    probabilities : array (p,), in [0, 1]
        That the page has changed at each of its update instants, independently, in their order.

    Examples
    --------
    >>> programme = distinct_versions([0.5, 0.5, 0.0, 0.9])
    >>> programme.values.round(3).tolist(), programme.looks(1), programme.looks(2)
    ([0.0, 0.975, 1.65, 1.9, 1.9], [3], [1, 3])
    """
    rho = np.asarray(probabilities, dtype=np.float64)
    p = rho.size
    caught = np.full((p, p), -np.inf)  # [a, j]: by a look at j if that before was at a - 1
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


def best_looks(
    weights: ArrayLike,
    probabilities: ArrayLike,
    tasks: int,
    *,
    least: ArrayLike = 0,
    most: ArrayLike | None = None,
) -> BoolArray:
    """The `tasks` looks at all pages that bring the most distinct versions by weight.

    Each page's value is concave in its looks, so taking the largest marginal gains is exact.

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
    >>> best_looks([1, 2], [[0.5, 0.5, 0.5], [0.1, 0.1, 0.9]], 3).astype(int).tolist()
    [[1, 0, 1], [0, 0, 1]]
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    programmes = [distinct_versions(row) for row in probabilities]
    marginal = np.array([np.diff(programme.values) for programme in programmes]).reshape(probabilities.shape)
    # Rounding must not let a later look overtake an earlier one of the same page.
    marginal = np.minimum.accumulate(marginal, axis=1) * np.asarray(weights, dtype=np.float64)[:, None]
    counts = best_pairs(marginal, tasks, least=least, most=most).sum(axis=1)
    chosen = np.zeros(probabilities.shape, dtype=bool)
    for page, (programme, count) in enumerate(zip(programmes, counts.tolist(), strict=True)):
        chosen[page, programme.looks(count)] = True
    return chosen
