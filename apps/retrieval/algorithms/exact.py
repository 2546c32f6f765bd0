"""Optimal times for a given number of retrievals per period: dynamic programmes and coordinate descent.

With L(t) the postings expected until t, the delay of a plan is the area between L and the staircase that the retrievals
inscribe under it. So the delay c(a, b) between two retrievals fulfils the Monge condition
c(a, c) + c(b, d) <= c(a, d) + c(b, c) for a <= b <= c <= d, and the times of optimal plans with different first
times interleave (A. Aggarwal, B. Schieber, T. Tokuyama, "Finding a Minimum-Weight k-Link Path in Graphs with the
Concave Monge Property and Applications", Discrete & Computational Geometry 12, 1994).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia import metrics

MAX_PROGRAMME = 24  # retrievals; above, a programme over the whole period takes too long
NODES_PER_HOUR, NODES_PER_RETRIEVAL = 12, 20  # five minutes, and less where retrievals are dense
MIN_NODES, MAX_NODES = 288, 672  # five minutes in a day, a quarter of an hour in a week
SWEEPS = 400
STILL = 1e-6  # of the period; a sweep that moves no retrieval further has converged

# Above LARGEST_PROGRAMME, where a descent on its own crawls and stops half a percent above the optimum:
ROUNDS, SWEEPS_PER_ROUND, LAST_SWEEPS = 6, 2, 10
NODES_PER_GAP = 8
GAIN = 1e-5  # of the delay; two rounds that save less are the last


def optimal_times(profile: Profile, retrievals: int) -> FloatArray:
    """The times of `retrievals` per period that minimise the expected delay.

    One retrieval: Theorem 2. Up to 24: the optimum on a grid, whose times then leave the grid by coordinate descent.
    More: from a start that is nearly right, programmes in which every retrieval may move as far as its neighbours, in
    turn with coordinate descent. The retrievals of a source that never posts are evenly spaced.

    Parameters
    ----------
    profile : Profile
    retrievals : int
        Per period, >= 1.

    Returns
    -------
    times : array (retrievals,), ascending, in [0, period)

    Raises
    ------
    ValueError
        If `retrievals` is less than 1.

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> optimal_times(office, 4).round(3).tolist()
    [2.483, 10.966, 14.483, 18.0]
    """
    if retrievals < 1:
        raise ValueError(f"a plan needs at least one retrieval, not {retrievals}")
    if not profile.total:
        return (np.arange(retrievals) + 0.5) * profile.period / retrievals
    if retrievals == 1:
        return np.array([metrics.optimal_single_time(profile)])
    if retrievals <= MAX_PROGRAMME:
        on_grid = optimal_times_on_grid(profile, retrievals, _nodes_for(profile, retrievals))
        return coordinate_descent(profile, on_grid, SWEEPS)
    return _refined(profile, quantile_start(profile, retrievals))


def _nodes_for(profile: Profile, retrievals: int) -> int:
    wanted = max(NODES_PER_HOUR * profile.period, NODES_PER_RETRIEVAL * retrievals)
    wanted = int(np.clip(wanted, MIN_NODES, MAX_NODES))
    bins = profile.rates.size
    return bins * -(-wanted // bins) if bins <= wanted else wanted  # edges are often optimal: let them be nodes


def quantile_start(profile: Profile, retrievals: int) -> FloatArray:
    """Times with equal integrals of sqrt(rate) between them: dense where much is posted; array (retrievals,).

    That is the density of the optimum for many retrievals. It ignores where the rate falls: a starting point.
    """
    density = np.sqrt(profile.rates + 0.02 * profile.rates.mean())
    integral = np.append(0.0, np.cumsum(density))
    quantiles = (np.arange(retrievals) + 0.5) / retrievals * integral[-1]
    return np.asarray(np.interp(quantiles, integral, profile.edges))


def optimal_times_on_grid(profile: Profile, retrievals: int, nodes: int) -> FloatArray:
    """The optimum among plans whose times are multiples of period / nodes; exact.

    A first plan that begins at time 0 is the shortest path of `retrievals` links. The optimal plan from any other
    start has one retrieval in each gap of the first. So every start within the shortest gap is tried, with the other
    times confined to the other gaps, and the cheapest plan is the optimum: O(nodes ** 2 * retrievals) altogether.

    Parameters
    ----------
    profile : Profile
    retrievals, nodes : int, 1 <= retrievals <= nodes

    Examples
    --------
    >>> optimal_times_on_grid(Profile(np.array([1.0, 0.0]), period=2.0), 1, nodes=4).tolist()
    [1.0]
    """
    if not 1 <= retrievals <= nodes:
        raise ValueError(f"{retrievals} retrievals do not fit on {nodes} nodes")
    grid = np.arange(2 * nodes + 1) * (profile.period / nodes)
    levels, integrals = profile.expected(grid), metrics.integrated_expectation(profile, grid)

    def costs(origins: IntArray, ends: IntArray) -> FloatArray:
        gaps = grid[ends] - grid[origins, None]
        return np.asarray(integrals[ends] - integrals[origins, None] - levels[origins, None] * gaps)

    everywhere = np.arange(nodes + 1)
    first = _plan_from_zero(costs(everywhere, everywhere), retrievals)
    shortest = int(np.diff(first, append=nodes).argmin())
    corners = np.concatenate((first[shortest:], first[: shortest + 1] + nodes))
    bands = [np.arange(low, high + 1) for low, high in pairwise(corners.tolist())]
    hops = [costs(origins, ends) for origins, ends in zip(bands, [*bands[1:], bands[0] + nodes], strict=True)]
    best_cost, best_plan = np.inf, first
    for row, start in enumerate(bands[0]):
        if retrievals == 1:
            blocks = [hops[0][row : row + 1, row : row + 1]]
        else:
            blocks = [hops[0][row : row + 1], *hops[1:-1], hops[-1][:, row : row + 1]]
        cost, path = _cheapest_path(blocks)
        if cost < best_cost:
            best_cost = cost
            best_plan = np.array([start, *(band[step] for band, step in zip(bands[1:], path, strict=True))])
    return np.sort(grid[best_plan % nodes])


def _plan_from_zero(costs: FloatArray, retrievals: int) -> IntArray:
    """The nodes of the cheapest plan that begins at node 0 and ends a period later."""
    forward = np.where(np.tri(len(costs), dtype=bool), np.inf, costs)
    if retrievals == 1:
        return np.array([0])
    _, path = _cheapest_path([forward[:1], *[forward] * (retrievals - 2), forward[:, -1:]])
    return np.array([0, *path])


def _cheapest_path(blocks: Sequence[FloatArray]) -> tuple[float, list[int]]:
    """The cheapest way through layers of which the first and the last have one node: its cost, the nodes between.

    `blocks[i][p, u]` is the cost from node p of layer i to node u of layer i + 1.
    """
    value, choices = blocks[0][0], []
    for block in blocks[1:]:
        sums = value[:, None] + block
        choice = sums.argmin(axis=0)
        choices.append(choice)
        value = sums[choice, np.arange(choice.size)]
    path, node = [], 0
    for choice in reversed(choices):
        node = int(choice[node])
        path.append(node)
    return float(value[0]), path[::-1]


def _refined(profile: Profile, plan: FloatArray) -> FloatArray:
    plan = coordinate_descent(profile, plan, SWEEPS_PER_ROUND)
    cost, idle = metrics.expected_delay(profile, plan), 0
    for turn in range(ROUNDS):
        # Each programme fixes one retrieval; the next one fixes its opposite.
        moved = _shifted_together(profile, plan, held=turn % 2 * (plan.size // 2))
        moved = coordinate_descent(profile, moved, SWEEPS_PER_ROUND)
        now = metrics.expected_delay(profile, moved)
        idle = idle + 1 if now > cost * (1 - GAIN) else 0
        if now < cost:
            plan, cost = moved, now
        if idle == 2:
            break
    return coordinate_descent(profile, plan, LAST_SWEEPS)


def _shifted_together(profile: Profile, plan: FloatArray, held: int) -> FloatArray:
    """The best plan in which every retrieval lies between its present neighbours, on a grid, but one is fixed."""
    period = profile.period
    plan = np.append(plan[held:], plan[:held] + period)
    own, since, until = plan[1:, None], plan[:-1, None], np.append(plan[2:], plan[0] + period)[:, None]
    parts = np.arange(-NODES_PER_GAP, NODES_PER_GAP + 1) / NODES_PER_GAP
    nodes = own + np.where(parts < 0, own - since, until - own) * parts
    levels, integrals = profile.expected(nodes), metrics.integrated_expectation(profile, nodes)
    gaps = nodes[1:, None, :] - nodes[:-1, :, None]
    hops = integrals[1:, None, :] - integrals[:-1, :, None] - levels[:-1, :, None] * gaps
    hops[gaps < 0] = np.inf
    first = metrics.expected_delay_between(profile, plan[0], nodes[:1])
    last = metrics.expected_delay_between(profile, nodes[-1:].T, plan[0] + period)
    _, path = _cheapest_path([first, *hops, last])
    return metrics.within_period(np.append(plan[0], nodes[np.arange(len(path)), path]), period)


def coordinate_descent(profile: Profile, times: ArrayLike, sweeps: int) -> FloatArray:
    """Move every retrieval to its best place between its neighbours, again and again; the delay never rises.

    Between neighbours a and b the best x maximises (L(x) - L(a)) (b - x), a parabola in each bin; so a step searches
    the whole way between them. Those that are not neighbours move together. A retrieval moves only for a gain.

    Parameters
    ----------
    profile : Profile
    times : array (m,) or (starts, m)
        One plan, or several that are treated alike; ascending, the last less than a period after the first.
    sweeps : int
        At most; fewer once no retrieval moves.

    Returns
    -------
    times : array of the same shape, each plan ascending, in [0, period)

    Notes
    -----
    A plan of one retrieval per period has itself for neighbours; its best time is Theorem 2's.

    Examples
    --------
    >>> office = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
    >>> coordinate_descent(office, [10.0, 16.0], sweeps=100).round(3).tolist()
    [12.3, 18.0]
    """
    given = np.asarray(times, dtype=np.float64)
    plans = np.atleast_2d(given).copy()
    count, period = plans.shape[1], profile.period
    if count == 1 and profile.total:
        plans[:] = metrics.optimal_single_time(profile)
    elif profile.total:
        line = _Line(profile)
        # Neighbours have different colours; around an odd circle that takes a third one.
        colours = [np.arange(0, count - 1, 2), np.arange(1, count, 2), *([np.array([count - 1])] if count % 2 else [])]
        for _ in range(sweeps):
            before = plans.copy()
            for colour in colours:
                since = plans[:, colour - 1] - period * (colour == 0)
                until = plans[:, (colour + 1) % count] + period * (colour == count - 1)
                plans[:, colour] = line.best(since.ravel(), plans[:, colour].ravel(), until.ravel()).reshape(
                    since.shape
                )
            if np.abs(plans - before).max() <= STILL * period:
                break
    return metrics.within_period(plans, period).reshape(given.shape)


class _Line:
    """Two periods of a profile, laid out for many one-dimensional searches at once."""

    def __init__(self, profile: Profile) -> None:
        self.period, self.bin_hours = profile.period, profile.bin_hours
        self.rates = np.tile(profile.rates, 2)
        self.edges = np.append(profile.edges[:-1], profile.edges + profile.period)
        self.levels = np.append(profile.cumulated[:-1], profile.cumulated + profile.total)
        self.negligible = 1e-12 * profile.total * profile.period

    def best(self, since: FloatArray, current: FloatArray, until: FloatArray) -> FloatArray:
        """Where between its neighbours each retrieval saves most delay; all arrays (k,)."""
        shift = np.floor(since / self.period) * self.period
        since, current, until = since - shift, current - shift, until - shift
        base = np.interp(since, self.edges, self.levels)
        first = (since / self.bin_hours).astype(np.int64)
        pieces = int(((until - since) / self.bin_hours).max()) + 2
        bins = np.minimum(first[:, None] + np.arange(pieces), self.rates.size - 1)
        rates, left = self.rates[bins], np.maximum(self.edges[bins], since[:, None])
        right = np.minimum(self.edges[bins + 1], until[:, None])
        rise = self.levels[bins] - base[:, None] + rates * (left - self.edges[bins])
        # Where nothing is posted, waiting saves nothing.
        peak = left + (until[:, None] - left - rise / np.where(rates > 0, rates, np.inf)) / 2
        peak = np.where(rates > 0, np.clip(peak, left, right), left)
        saved = np.where(left <= right, (rise + rates * (peak - left)) * (until[:, None] - peak), -np.inf)
        piece = saved.argmax(axis=1)
        rows = np.arange(since.size)
        so_far = (np.interp(current, self.edges, self.levels) - base) * (until - current)
        better = saved[rows, piece] > so_far + self.negligible
        return np.asarray(np.where(better, peak[rows, piece], current) + shift)
