"""When to ask a source several times a period: Theorem 3 of Sia, Cho and Cho, and the two solvers they describe.

The paper leaves details of both open; what was read into them stands in each docstring. Neither is exact: the
condition of Theorem 3 is only necessary. `exact.optimal_times` finds the optimum itself.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import expected_delay, expected_delay_between, within_period

FloatArray = NDArray[np.float64]
GRID = 1 / 6  # h; the time step of both solvers


def optimality_residuals(profile: Profile, instants: ArrayLike) -> FloatArray:
    """By how much each instant misses Theorem 3, in postings; all are 0 at an optimum.

    The theorem: the postings expected since the previous retrieval equal the rate at the instant times the gap to the
    next one. The difference is the derivative of the expected delay: positive if an earlier instant is better, negative
    if a later one is. Where the rate falls at the instant the theorem holds with any rate between the two.

    Parameters
    ----------
    profile : Profile
    instants : array (m,), ascending, the last less than a period after the first

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> np.allclose(optimality_residuals(office, [12.3, 18.0]), 0.0)
    True
    >>> optimality_residuals(office, [12.0, 17.0]).round(9).tolist()
    [1.4, -14.0]
    """
    instants = np.asarray(instants, dtype=np.float64)
    since = np.append(instants[-1] - profile.period, instants[:-1])
    until = np.append(instants[1:], instants[0] + profile.period)
    dark = profile.expected(instants) - profile.expected(since)
    ending, beginning = _rates_around(profile, instants)
    to_the_left, to_the_right = dark - ending * (until - instants), dark - beginning * (until - instants)
    return np.asarray(np.maximum(to_the_left, 0.0) + np.where(to_the_left > 0, 0.0, np.minimum(to_the_right, 0.0)))


def _rates_around(profile: Profile, instants: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rates just before and just after each instant; they differ at edges only."""
    position = np.mod(instants, profile.period) / profile.bin_hours
    nearest = np.round(position)
    at_edge = np.abs(position - nearest) < 1e-9
    beginning = np.where(at_edge, nearest, np.floor(position)).astype(np.int64)
    size = profile.rates.size
    return profile.rates[(beginning - at_edge) % size], profile.rates[beginning % size]


def exhaustive_search(
    profile: Profile, retrievals: int, *, grid: float = GRID, interpolated: bool = False
) -> FloatArray:
    """The paper's exhaustive search with pruning: Theorem 3 unrolled from every pair of first instants.

    Given two consecutive retrievals, the theorem gives the third, and so on. Every pair on the grid begins a plan; the
    cheapest plan wins. A plan is dropped as soon as it passes the end of the period, stands where nothing is posted
    (the theorem then gives no next instant) or has cost as much as the best plan so far. Exact up to the grid for one
    and two retrievals.

    Read into the paper: only the first two instants lie on the grid; the plan to beat at first is the even one, which
    is returned if all others are dropped.

    Parameters
    ----------
    profile : Profile
    retrievals : int
        Per period, >= 1.
    grid : float
        Hours between the instants tried; a part of the period.
    interpolated : bool
        Read the rate off a line through the middles of the bins, instead of the bin's own.

    Returns
    -------
    instants : array (retrievals,), ascending, in [0, period)

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> exhaustive_search(office, 2).round(3).tolist()
    [12.333, 18.0]
    """
    rate = _reading(profile, interpolated)
    nodes = np.arange(round(profile.period / grid)) * grid
    best = _even_start(profile, retrievals)
    cost = expected_delay(profile, best)
    for first in nodes:
        plans = _unrolled(profile, rate, first + nodes[1:], first, retrievals, cost) if retrievals > 1 else first
        plans = np.reshape(plans, (-1, retrievals))
        following = np.column_stack((plans[:, 1:], plans[:, 0] + profile.period))
        costs = expected_delay_between(profile, plans, following).sum(axis=1)
        if costs.size and costs.min() < cost:
            best, cost = plans[costs.argmin()], costs.min()
    return within_period(best, profile.period)


def _unrolled(
    profile: Profile,
    rate: Callable[[FloatArray], FloatArray],
    second: FloatArray,
    first: float,
    retrievals: int,
    bound: float,
) -> FloatArray:
    """The plans (k, retrievals) that begin with `first` and one of `second` and survive the pruning."""
    plans = np.column_stack((np.full(second.size, first), second))
    partial = expected_delay_between(profile, plans[:, 0], plans[:, 1])
    while plans.shape[1] < retrievals:
        previous, current = plans[:, -2], plans[:, -1]
        dark, slope = profile.expected(current) - profile.expected(previous), rate(current)
        going = (slope > 0) & (dark > 0) & (partial < bound)
        plans, current = plans[going], current[going]
        following = current + dark[going] / slope[going]
        partial = partial[going] + expected_delay_between(profile, current, following)
        inside = following < first + profile.period
        plans, partial = np.column_stack((plans[inside], following[inside])), partial[inside]
    return plans


def iterative_refinement(
    profile: Profile, retrievals: int, *, grid: float = GRID, sweeps: int = 400, interpolated: bool = False
) -> FloatArray:
    """The paper's iterative refinement: from an even start, move each instant to where Theorem 3 pulls it.

    The dark area is the postings expected since the previous retrieval, the light area the rate at the instant times
    the gap to the next one. If the dark one is larger the instant moves a little to the left, if the light one is to
    the right. A local search: it also rests where the even start happens to fulfil the condition.

    Read into the paper: the start is (j + 1/2) period / m; a move is one step of `grid` and never reaches a neighbour;
    the search ends when nothing moves or after `sweeps`; the best plan seen is returned.

    Parameters and result are those of `exhaustive_search`.

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> iterative_refinement(office, 3).round(3).tolist()
    [3.667, 13.0, 18.0]
    """
    rate, period = _reading(profile, interpolated), profile.period
    instants = _even_start(profile, retrievals)
    best, cost = instants.copy(), expected_delay(profile, instants)
    for _ in range(sweeps):
        moved = False
        for j in range(retrievals):
            since = instants[j - 1] - (period if j == 0 else 0.0)
            until = instants[(j + 1) % retrievals] + (period if j == retrievals - 1 else 0.0)
            dark = float(profile.expected(instants[j]) - profile.expected(since))
            light = float(rate(instants[j]) * (until - instants[j]))
            shifted = instants[j] + grid * np.sign(light - dark)
            if shifted != instants[j] and (retrievals == 1 or since < shifted < until):
                instants[j], moved = shifted, True
        if not moved:
            break
        if (now := expected_delay(profile, instants)) < cost:
            best, cost = instants.copy(), now
    return within_period(best, period)


def _even_start(profile: Profile, retrievals: int) -> FloatArray:
    if retrievals < 1:
        raise ValueError(f"a plan needs at least one retrieval, not {retrievals}")
    return (np.arange(retrievals) + 0.5) * profile.period / retrievals


def _reading(profile: Profile, interpolated: bool) -> Callable[[FloatArray], FloatArray]:
    """The rate as a function of the instant, in steps or interpolated between the middles of the bins."""
    if not interpolated:
        return profile.rate
    middles = profile.edges[:-1] + profile.bin_hours / 2
    return lambda instants: np.interp(instants, middles, profile.rates, period=profile.period)
