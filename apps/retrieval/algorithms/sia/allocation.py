"""How often to retrieve each source: resource allocation, section 3.1 of Sia, Cho and Cho."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray, IntArray


def square_root_allocation(
    rates: ArrayLike, total: float, *, weights: ArrayLike = 1.0, least: ArrayLike = 0.0, most: ArrayLike = np.inf
) -> FloatArray:
    """Retrievals per source that minimise the weighted delay if every source posts evenly through time; Theorem 1.

    They go with the square root of weight times rate. Where that would leave the bounds, the source gets the bound and
    the others share the rest in the same proportion, which is the optimum under bounds. Sources that never post get
    their least; only what the others cannot use is spread evenly over them.

    Parameters
    ----------
    rates : array (n,), >= 0
        Postings per hour, or in any other unit that all share.
    total : float
        Retrievals of all sources together, in the time to which `least` and `most` refer.
    weights, least, most : numbers or arrays (n,)

    Returns
    -------
    retrievals : array (n,)
        Real numbers, not rounded; their sum is `total`.

    Raises
    ------
    ValueError
        If a rate or weight is negative, or the total does not lie between the sums of the bounds.

    Examples
    --------
    >>> square_root_allocation([1.0, 4.0, 9.0], total=12.0).round(6).tolist()
    [2.0, 4.0, 6.0]
    >>> square_root_allocation([1.0, 4.0, 9.0, 0.0], total=10.0, least=1.0, most=4.0).round(6).tolist()
    [1.666667, 3.333333, 4.0, 1.0]
    """
    rates, weights = checked(rates, weights)
    return allocate(np.sqrt(weights * rates), total, least, most, proportional_shares)


def checked(rates: ArrayLike, weights: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as arrays of the shape of `rates`. Raises ValueError if one is negative."""
    rates = np.asarray(rates, dtype=np.float64)
    weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), rates.shape)
    if (rates < 0).any() or (weights < 0).any():
        raise ValueError("rates and weights must not be negative")
    return rates, weights


def allocate(
    worths: FloatArray,
    total: float,
    least: ArrayLike,
    most: ArrayLike,
    rule: Callable[[FloatArray, float, FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    """Share out `total` by `rule` among the sources whose worth is positive; the rest get their least, or what is left.

    `rule(worths, total, least, most)` sees arrays of those sources only and a total within their bounds.
    """
    least, most = (np.broadcast_to(np.asarray(bound, dtype=np.float64), worths.shape) for bound in (least, most))
    if not least.sum() * (1 - 1e-12) <= total <= most.sum() * (1 + 1e-12):
        raise ValueError(f"a total of {total} does not lie within the bounds {least.sum()} and {most.sum()}")
    active = worths > 0
    silent = ~active
    for_active = min(max(total - least[silent].sum(), least[active].sum()), most[active].sum())
    shares = np.empty(worths.shape)
    shares[active] = rule(worths[active], for_active, least[active], most[active])
    shares[silent] = proportional_shares(
        np.ones(np.count_nonzero(silent)), total - for_active, least[silent], most[silent]
    )
    return shares


def proportional_shares(worths: FloatArray, total: float, least: FloatArray, most: FloatArray) -> FloatArray:
    """clip(k * worth, least, most) with the k for which the sum is `total`; worths are positive."""
    # The sum is piecewise linear in k: it gains the slope `worth` where a source leaves its least, and loses it again.
    bends, slopes = np.concatenate((least, most)) / np.tile(worths, 2), np.concatenate((worths, -worths))
    order = np.argsort(bends, kind="stable")
    order = order[np.isfinite(bends[order])]
    if not order.size:
        return least.copy()
    bends, slopes = bends[order], np.cumsum(slopes[order])
    sums = least.sum() + np.append(0.0, np.cumsum(slopes[:-1] * np.diff(bends)))
    piece = max(int(np.searchsorted(sums, total, side="right")) - 1, 0)
    rest = total - sums[piece]
    factor = bends[piece] + (rest / slopes[piece] if slopes[piece] > 1e-12 * worths.max() else 0.0)
    return np.asarray(np.clip(factor * worths, least, most))


def whole_retrievals(frequency: float, days: int, *, phase: float = 0.5) -> IntArray:
    """Whole numbers of retrievals on consecutive days that follow a real frequency per day, by error diffusion.

    Each day gets the frequency rounded down or up, and after any number of days the sum differs by less than one from
    the frequency times the days. Repeated after `days` the sequence stays fair only up to that difference. At least one
    day has a retrieval.

    Parameters
    ----------
    frequency : float
        Retrievals per day, >= 0.
    days : int
    phase : float in [0, 1)
        The error before the first day; random phases spread sources over the days.

    Examples
    --------
    >>> whole_retrievals(2.5, 4).tolist(), whole_retrievals(1 / 7, 14, phase=0.0).tolist()
    ([3, 2, 3, 2], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    """
    # The small addition keeps seven times 1/7 from falling short of 1.
    until = np.floor(np.arange(days + 1) * max(frequency, 1 / days) + phase + 1e-9)
    return np.asarray(np.diff(until), dtype=np.int64)
