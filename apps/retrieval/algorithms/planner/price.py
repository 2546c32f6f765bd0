"""One price of a retrieval for all sources: a retrieval is worth making where it saves that many posting-hours."""

import math

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray

DAMPING = 0.3  # of the controller: the exponent 2 of the square-root law becomes 0.6
FASTEST = 2.0  # factor by which the controller moves the price in a day at most


def root_mass(rates: FloatArray, period: float) -> FloatArray:
    """The integral of the root of a posting rate over its period, per row of `rates` (n, bins); sqrt(postings h)."""
    return np.asarray(np.sqrt(rates).mean(axis=1) * period)


def closed_form_price(root_masses: FloatArray, weights: FloatArray, retrievals: float) -> float:
    """The price at which about that many retrievals are made per period.

    Where gaps are short against the changes of the rate, the best gap is g(t) = sqrt(2 price / (w rate(t))), so the
    retrievals of all sources are sum sqrt(w) int sqrt(rate) / sqrt(2 price): Theorem 1 of Sia, Cho and Cho, for rates
    that change.

    Parameters
    ----------
    root_masses, weights : arrays (n,)
        `root_mass` of each source and its importance.
    retrievals : float, > 0
        Of all sources per period.

    Examples
    --------
    >>> closed_form_price(np.array([168.0]), np.ones(1), 42.0)
    8.0
    """
    if not retrievals > 0:
        raise ValueError(f"the budget must be positive, not {retrievals}")
    return float((np.sqrt(weights) * root_masses).sum() ** 2 / (2 * retrievals**2))


def controlled_price(price: float, used: float, budget: float, hours: float) -> float:
    """A better price by the retrievals used and the budget, both over the same window.

    Retrievals go as price ** -0.5, so price * (used / budget) ** 2 would be right at once, were all of the difference
    the price's fault and seen without noise. `hours` since the last change bound how far it moves.

    >>> round(controlled_price(4.0, used=110, budget=100, hours=1.0), 3)
    4.117
    """
    if budget <= 0 or price <= 0:
        return price
    step = 2 * DAMPING * math.log(max(used, 0.5) / budget)
    bound = math.log(FASTEST) * hours / 24
    return price * math.exp(min(max(step, -bound), bound))
