"""When to retrieve a source once a period: Theorem 2 of Sia, Cho and Cho."""

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import expected_delay


def downward_crossings(profile: Profile) -> FloatArray:
    """The times in [0, period) at which the rate falls from above its mean to the mean or below, ascending.

    Empty where the rate never leaves its mean.
    """
    above = profile.rates > profile.rates.mean()
    return np.asarray(profile.edges[:-1][np.roll(above, 1) & ~above])


def optimal_single_time(profile: Profile) -> float:
    """The time of the one retrieval per period that minimises the expected delay.

    By Theorem 2 the rate equals its mean there and falls. A rate constant within bins does so at edges only; the best
    of them is the optimum. If the rate is constant, every time is optimal and 0 is returned.

    Examples
    --------
    >>> optimal_single_time(Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0))
    18.0
    """
    return float(min(downward_crossings(profile), key=lambda time: expected_delay(profile, [time]), default=0.0))
