"""The next due times of a source at one price of a retrieval: the exact optimum over several gaps ahead.

Retrieving at a and next at b delays the postings between by c(a, b) = J(b) - J(a) - L(a) (b - a), where L cumulates the
expected postings and J cumulates L. On nodes u = 0..N of one step h the cheapest plan satisfies

    D[u] = price + J[u] + min over p <= u - least of { D[p] - J[p] + h L[p] p - h L[p] u },

a minimum over lines in u whose slopes -h L[p] fall with p. So the best p never moves back, and the lower hull of the
lines gives it in O(N) (section 3 of Eckstein, Gal and Reiner 2008 has the quadratic recursion; the hull is ours).
Only the first due time is used: after that retrieval, its result is known and the plan is computed again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.calendar import SLOTS_BEGIN, WEEK

GAPS = 6  # usual gaps that are planned ahead
NODES = 120  # of the grid over them
LEAST_STEP, LONGEST_STEP = 1 / 60, 1.5  # h
DELAY_NODES = 65
REFINEMENT = 8  # parts of a step among which the first due time is refined
LOSS_HOURS = 24.0  # a posting that slips out of its feed unseen is as bad as one that comes a day late
BATCH = 256  # sources planned at once, so that their tables stay in the processor's cache


def usual_gap(rate: FloatArray, price: FloatArray, least: FloatArray, longest: FloatArray) -> FloatArray:
    """The best gap for a constant rate of weighted postings per hour, within bounds; h.

    A gap g costs rate g^2 / 2 posting-hours and one price: sqrt(2 price / rate) is cheapest per hour.
    """
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.clip(np.sqrt(2 * price / np.maximum(rate, 1e-300)), least, np.maximum(least, longest)))


@dataclass(frozen=True)
class Outlook:
    """The postings expected of k sources from now on, and their constraints. All arrays have the shape (k,).

    Parameters
    ----------
    cumulated : array (k, n + 1)
        Postings expected from the start of the week, which is SLOTS_BEGIN, to the edges of n bins, by profile alone.
    now : array
        Hours on the axis of `calendar`.
    waiting : array
        Postings expected to have been published since the source was last retrieved successfully.
    factor : array
        The activity by which profiles are multiplied.
    price : array
        Posting-hours per retrieval, divided by the source's weight; inf for a source worth nothing.
    least, longest : arrays
        Bounds of each gap, h.
    window : array
        How many items the feed shows; inf when it does not matter.
    """

    cumulated: FloatArray
    now: FloatArray
    waiting: FloatArray
    factor: FloatArray
    price: FloatArray
    least: FloatArray
    longest: FloatArray
    window: FloatArray

    def part(self, rows: slice | IntArray) -> "Outlook":
        return Outlook(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def priced(self, price: float, weights: FloatArray) -> "Outlook":
        """The same at another price of a retrieval of a source of weight 1."""
        return replace(self, price=price / np.maximum(weights, 1e-12))

    def at(self, rows: IntArray, now: FloatArray) -> "Outlook":
        """Some of the sources at other times, as if just retrieved."""
        return replace(self.part(rows), now=now, waiting=np.zeros(now.size))

    def expected_delay(self, gaps: FloatArray) -> FloatArray:
        """Posting-hours that postings of the coming gaps (k,) are expected to wait: Lemma 1 of Sia, Cho and Cho."""
        towards = np.linspace(0.0, 1.0, DELAY_NODES)[:, None]
        expected = self.expected(self.now + towards * gaps)
        caught = self.waiting + self.factor * (expected - expected[0])
        return np.asarray(np.trapezoid(caught, dx=1 / (DELAY_NODES - 1), axis=0) * gaps)

    def expected(self, times: FloatArray) -> FloatArray:
        """Postings expected by profile from the start of the calendar, at times of shape (m, k)."""
        bins = self.cumulated.shape[1] - 1
        weeks, phase = np.divmod(times - SLOTS_BEGIN, WEEK)
        position = phase * (bins / WEEK)
        left = np.minimum(position.astype(np.int64), bins - 1)
        flat = self.cumulated.ravel()
        left_index = left + np.arange(len(self.cumulated)) * (bins + 1)
        before = flat[left_index]
        return np.asarray(weeks * self.cumulated[:, -1] + before + (flat[left_index + 1] - before) * (position - left))


def next_gaps(outlook: Outlook) -> FloatArray:
    """Hours until the next retrieval of each source, shape (k,), within its bounds.

    Examples
    --------
    With a flat rate of one posting an hour and a price of 8 posting-hours the gap is sqrt(2 * 8) = 4 hours:

    >>> one = np.ones(1)
    >>> flat = Outlook(np.linspace(0, 168, 2017)[None], 0 * one, 0 * one, one, 8 * one, one / 12, 168 * one, one / 0.01)
    >>> next_gaps(flat).round(2).tolist()
    [4.0]
    """
    gaps = [_next_gaps(outlook.part(slice(i, i + BATCH))) for i in range(0, len(outlook.now), BATCH)]
    return np.concatenate(gaps) if gaps else np.empty(0)


def _grid(outlook: Outlook) -> tuple[FloatArray, FloatArray, IntArray]:
    """Postings expected until each node, (NODES + 1, k), the step in hours, and the least gap in nodes."""
    rate = outlook.factor * outlook.cumulated[:, -1] / WEEK
    gap = usual_gap(rate, outlook.price, outlook.least, outlook.longest)
    step = np.clip(gap * (GAPS / NODES), LEAST_STEP, LONGEST_STEP)
    expected = outlook.expected(outlook.now + np.arange(NODES + 1)[:, None] * step)
    least = np.clip(np.ceil(outlook.least / step - 1e-9), 1, NODES).astype(np.int64)
    return outlook.waiting + outlook.factor * (expected - expected[0]), step, least


def _next_gaps(outlook: Outlook) -> FloatArray:
    expected, step, least = _grid(outlook)
    first, second = _first_hops(expected, step, outlook.price, least, outlook.window)
    gaps = _refined(outlook, first * step, second * step, step)
    return np.asarray(np.clip(gaps, outlook.least, np.maximum(outlook.least, outlook.longest)))


def _refined(outlook: Outlook, first: FloatArray, second: FloatArray, step: FloatArray) -> FloatArray:
    """The best first gap within a step of the grid's, with the second time fixed: Theorem 3 without derivatives."""
    tries = first + np.linspace(-1, 1, 2 * REFINEMENT + 1)[:, None] * step
    inside = (tries >= outlook.least - 1e-9) & ((tries <= second - outlook.least + 1e-9) | (first == second))
    before = outlook.expected(np.vstack((outlook.now, outlook.now + tries)))
    caught = outlook.waiting + outlook.factor * (before[1:] - before[0])
    gains = np.where(inside, caught * (second - tries), -1.0)
    gains[REFINEMENT] *= 1 + 1e-9  # nothing to gain: stay
    best = tries[gains.argmax(axis=0), np.arange(first.size)]
    return np.where(first == second, first, best)


def _first_hops(
    expected: FloatArray, step: FloatArray, price: FloatArray, least: IntArray, window: FloatArray
) -> tuple[IntArray, IntArray]:
    """The recursion of the module for k sources side by side; nodes of the first two times of each cheapest plan.

    Instead of a hull for each, all candidates from the earliest one that is still best for any source are compared.
    `expected` has the shape (NODES + 1, k); only its first row may be above 0 by what is already waiting.
    """
    nodes, count = expected.shape[0] - 1, expected.shape[1]
    slope = expected * step
    area = np.zeros_like(slope)
    np.cumsum(0.5 * (slope[1:] + slope[:-1]), axis=0, out=area[1:])
    collected = slope.copy()
    collected[0] = 0.0  # what waits now was not collected by the retrieval at node 0, which failed or is long past
    lossy = bool((expected[-1] > window).any())
    price = np.minimum(price, 1e12)
    line = np.full_like(slope, np.inf)
    line[0] = 0.0
    first = np.zeros(slope.shape, dtype=np.int64)
    second = np.zeros(slope.shape, dtype=np.int64)
    columns = np.arange(count)
    nearest, farthest, head = int(least.min()), int(least.max()), 0
    for node in range(nearest, nodes + 1):
        last = node - nearest + 1
        candidates = line[head:last] - collected[head:last] * node
        if lossy:
            new = expected[node] - collected[head:last] / step
            candidates += LOSS_HOURS * np.maximum(new - window, 0.0)
        if farthest > nearest:
            too_near = np.arange(head, last)[:, None] > node - least
            candidates[too_near] = np.inf
        best = candidates.argmin(axis=0)
        cost = candidates[best, columns] + area[node] + price
        best += head
        line[node] = cost - area[node] + slope[node] * node
        begins = best == 0
        follows = ~begins & (second[best, columns] == first[best, columns])
        first[node] = np.where(begins, node, first[best, columns])
        second[node] = np.where(begins | follows, node, second[best, columns])
        if not lossy:
            head = int(best.min())
    return first[nodes], second[nodes]


def plan(expected: Sequence[float], step: float, price: float, least: int = 1, window: float = math.inf) -> list[int]:
    """The nodes of one source's cheapest plan, by the hull: the last one is the last of the grid.

    Parameters
    ----------
    expected : sequence of N + 1 floats, non-decreasing
        Postings expected, times the source's weight, between its latest retrieval and each node.
    step : float
        Hours between nodes.
    price : float
        Posting-hours per retrieval.
    least : int, 1 <= least <= N
        Nodes between two times at least; the first keeps it from node 0.
    window : float
        Postings beyond which a gap loses what is published; only where it matters, the slower form is taken.

    Examples
    --------
    >>> plan([0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0], 1.0, 0.5)
    [1, 2, 6]
    """
    if not 1 <= least < len(expected):
        raise ValueError(f"the least gap must be 1..{len(expected) - 1} nodes, not {least}")
    price = min(price, 1e12)
    back = (
        _best_before(expected, step, price, least)
        if expected[-1] <= window
        else _lossy(expected, step, price, least, window)
    )
    path, node = [], len(expected) - 1
    while node > 0:
        path.append(node)
        node = back[node]
    return path[::-1]


def _best_before(expected: Sequence[float], step: float, price: float, least: int) -> list[int]:
    """For each node the node of the retrieval before it.

    One loop over plain floats: numpy is slower one by one, and a call for each line would cost as much as the rest.
    """
    nodes, half = len(expected) - 1, step / 2
    costs, back, areas = [0.0] * (nodes + 1), [0] * (nodes + 1), [0.0] * (nodes + 1)
    for node in range(1, nodes + 1):
        areas[node] = areas[node - 1] + half * (expected[node - 1] + expected[node])
    # The hull's lines, offset - slope * node, ever steeper; the last one may have to give way to a new one.
    slopes, offsets, owners = [0.0], [0.0], [0]
    head = last = 0
    for node in range(least, nodes + 1):
        new = node - least
        slope = expected[new] * step
        offset = costs[new] - areas[new] + slope * new
        if new >= least and (slope > slopes[last] or offset < offsets[last]):
            if slope == slopes[last] and last:
                last -= 1
            while last and (offset - offsets[last - 1]) * (slopes[last] - slopes[last - 1]) <= (
                offsets[last] - offsets[last - 1]
            ) * (slope - slopes[last - 1]):
                last -= 1
            last += 1
            slopes[last:], offsets[last:], owners[last:] = [slope], [offset], [new]
            head = min(head, last)
        best = offsets[head] - slopes[head] * node
        while head < last and (following := offsets[head + 1] - slopes[head + 1] * node) <= best:
            best, head = following, head + 1
        costs[node] = best + areas[node] + price
        back[node] = owners[head]
    return back


def _lossy(expected: Sequence[float], step: float, price: float, least: int, window: float) -> list[int]:
    """The same where long gaps lose postings, whose cost is convex in a gap's count; quadratic, for few sources."""
    nodes = len(expected) - 1
    known = np.asarray(expected, dtype=np.float64)
    areas = np.concatenate(([0.0], np.cumsum(0.5 * step * (known[1:] + known[:-1]))))
    collected = known.copy()
    collected[0] = 0.0
    lines, back = np.full(nodes + 1, np.inf), [0] * (nodes + 1)
    lines[0] = 0.0
    for node in range(least, nodes + 1):
        last = node - least + 1
        lost = np.maximum(known[node] - collected[:last] - window, 0.0)
        candidates = lines[:last] - collected[:last] * (step * node) + LOSS_HOURS * lost
        back[node] = int(candidates.argmin())
        cost = candidates[back[node]] + areas[node] + price
        lines[node] = cost - areas[node] + known[node] * step * node
    return back


def due_times_ahead(outlook: Outlook) -> list[float]:
    """The coming due times of the one source of an outlook, hours on the axis of `calendar`; only the first is used.

    >>> one = np.ones(1)
    >>> flat = Outlook(np.linspace(0, 168, 2017)[None], 0 * one, 0 * one, one, 8 * one, one / 12, 168 * one, one / 0.01)
    >>> [round(time, 2) for time in due_times_ahead(flat)[:3]]
    [4.0, 8.0, 12.0]
    """
    now, least, longest = float(outlook.now[0]), float(outlook.least[0]), float(outlook.longest[0])
    expected, steps, least_nodes = _grid(outlook)
    [step] = steps.tolist()
    nodes = plan(expected[:, 0].tolist(), step, float(outlook.price[0]), int(least_nodes[0]), float(outlook.window[0]))
    refined = float(_refined(outlook, nodes[0] * steps, nodes[min(1, len(nodes) - 1)] * steps, steps)[0])
    first = min(max(refined, least), max(least, longest))
    return [now + first, *(now + node * step for node in nodes[1:] if node * step >= first + least)]
