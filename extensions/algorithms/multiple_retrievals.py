"""Several retrievals of a source per period: the two solvers that Sia, Cho and Cho describe for Theorem 3.

The paper leaves details of both open; each docstring states how they are interpreted here. Neither solver is exact: the
condition of Theorem 3 is only necessary. The module `exact` finds the optimum.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.learning import Solver
from apps.retrieval.algorithms.sia.metrics import expected_delay, expected_delay_between, within_period
from apps.retrieval.algorithms.sia.policies import Rule, square_root, well_timed

FloatArray = NDArray[np.float64]
GRID = 1 / 6  # h; the time step of both solvers


def combined_by(solver: Callable[..., FloatArray]) -> Rule:
    """The combined policy with times of one of these solvers, which reads a continuous rate as the paper has it."""
    interpolating: Solver = partial(solver, interpolated=True)
    return Rule(square_root, partial(well_timed, solver=interpolating))


def optimality_residuals(profile: Profile, times: ArrayLike) -> FloatArray:
    """By how much each time misses Theorem 3, in postings; all are 0 at an optimum.

    The theorem: the postings expected since the previous retrieval equal the rate at the time times the gap to the
    next one. The difference is the derivative of the expected delay: positive if an earlier time is better, negative
    if a later one is. Where the rate falls at the time the theorem holds with any rate between the two.

    Parameters
    ----------
    profile : Profile
    times : array (m,), ascending, the last less than a period after the first

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> np.allclose(optimality_residuals(office, [12.3, 18.0]), 0.0)
    True
    >>> optimality_residuals(office, [12.0, 17.0]).round(9).tolist()
    [1.4, -14.0]
    """
    times = np.asarray(times, dtype=np.float64)
    since = np.append(times[-1] - profile.period, times[:-1])
    until = np.append(times[1:], times[0] + profile.period)
    dark = profile.expected(times) - profile.expected(since)
    ending, beginning = _rates_around(profile, times)
    to_the_left, to_the_right = dark - ending * (until - times), dark - beginning * (until - times)
    return np.asarray(np.maximum(to_the_left, 0.0) + np.where(to_the_left > 0, 0.0, np.minimum(to_the_right, 0.0)))


def _rates_around(profile: Profile, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rates just before and just after each time; they differ at edges only."""
    position = np.mod(times, profile.period) / profile.bin_hours
    nearest = np.round(position)
    at_edge = np.abs(position - nearest) < 1e-9
    beginning = np.where(at_edge, nearest, np.floor(position)).astype(np.int64)
    size = profile.rates.size
    return profile.rates[(beginning - at_edge) % size], profile.rates[beginning % size]


def exhaustive_search(
    profile: Profile, retrievals: int, *, grid: float = GRID, interpolated: bool = False
) -> FloatArray:
    """The paper's exhaustive search with pruning: Theorem 3 unrolled from every pair of first retrieval times.

    Given two consecutive retrievals, the theorem gives the third, and so on. Every pair on the grid begins a plan; the
    cheapest plan wins. A plan is dropped as soon as it passes the end of the period, stands where nothing is posted
    (the theorem then gives no next time) or has cost as much as the best plan so far. Exact up to the grid for one
    and two retrievals.

    Interpretation: only the first two times lie on the grid; the search starts with the even plan, which is returned
    if all others are dropped.

    Parameters
    ----------
    profile : Profile
    retrievals : int
        Per period, >= 1.
    grid : float
        Hours between the times tried; a part of the period.
    interpolated : bool
        Read the rate off a line through the middles of the bins, instead of the bin's own.

    Returns
    -------
    times : array (retrievals,), ascending, in [0, period)

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
    while plans.shape[1] < retrievals and len(plans):
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
    """The paper's iterative refinement: from an even start, move each time to where Theorem 3 pulls it.

    The dark area is the postings expected since the previous retrieval, the light area the rate at the time times
    the gap to the next one. If the dark one is larger the time moves a little to the left, if the light one is to
    the right. A local search: it also rests where the even start happens to fulfil the condition.

    Interpretation: the start is (j + 1/2) period / m; a move is one step of `grid` and never reaches a neighbour;
    the search ends when nothing moves or after `sweeps`; the best plan seen is returned.

    Parameters and result are those of `exhaustive_search`.

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> iterative_refinement(office, 3).round(3).tolist()
    [3.333, 12.667, 18.0]
    """
    rate, period, even = _reading(profile, interpolated), profile.period, _even_start(profile, retrievals)
    farthest = round(period / grid)
    nodes = even[:, None] + np.arange(-farthest, farthest + 1) * grid
    # A move is looked up: whole sweeps of single evaluations would take seconds.
    at, levels, rates = nodes.tolist(), profile.expected(nodes).tolist(), rate(nodes).tolist()
    place, last = [farthest] * retrievals, retrievals - 1
    best, cost = even, expected_delay(profile, even)
    for _ in range(sweeps):
        moved = False
        for j, k in enumerate(place):
            after = (j + 1) % retrievals
            since = at[j - 1][place[j - 1]] - period * (j == 0)
            until = at[after][place[after]] + period * (j == last)
            dark = levels[j][k] - levels[j - 1][place[j - 1]] + profile.total * (j == 0)
            light = rates[j][k] * (until - at[j][k])
            shifted = min(max(k + (light > dark) - (light < dark), 0), 2 * farthest)
            if shifted != k and (retrievals == 1 or since < at[j][shifted] < until):
                place[j], moved = shifted, True
        if not moved:
            break
        times = nodes[np.arange(retrievals), place]
        if (now := expected_delay(profile, times)) < cost:
            best, cost = times, now
    return within_period(best, period)


def _even_start(profile: Profile, retrievals: int) -> FloatArray:
    if retrievals < 1:
        raise ValueError(f"a plan needs at least one retrieval, not {retrievals}")
    return (np.arange(retrievals) + 0.5) * profile.period / retrievals


def _reading(profile: Profile, interpolated: bool) -> Callable[[FloatArray], FloatArray]:
    """The rate as a function of the time, in steps or interpolated between the middles of the bins."""
    if not interpolated:
        return profile.rate
    middles = profile.edges[:-1] + profile.bin_hours / 2
    return lambda times: np.interp(times, middles, profile.rates, period=profile.period)
