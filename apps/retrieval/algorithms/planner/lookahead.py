"""The next due times of a source at one price of a retrieval: the exact optimum over several gaps ahead.

Retrieving at a and next at b delays the postings between by c(a, b) = J(b) - J(a) - L(a) (b - a), where L cumulates the
expected postings and J cumulates L. On nodes u = 0..N of one step h the cheapest plan satisfies

    D[u] = price + J[u] + min over p <= u - least of { D[p] - J[p] + h L[p] p - h L[p] u },

a minimum over lines in u whose slopes -h L[p] fall with p, so that the best p never moves back. (Section 3 of Eckstein,
Gal and Reiner 2008 has the recursion.)
Only the first due time is used: after that retrieval, its result is known and the plan is computed again.
"""

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
SHARED_HEAD = 8  # nodes for which the earliest candidate stays: comparing a few more costs less than finding out
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

    def priced(self, price: float | FloatArray, weights: FloatArray) -> "Outlook":
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
    first, second, _ = cheapest_plans(expected, step, outlook.price, least, outlook.window)
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


def cheapest_plans(
    expected: FloatArray, step: FloatArray, price: FloatArray, least: IntArray, window: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The recursion of the module for k sources side by side: the first two nodes of each cheapest plan.

    Also for each node the one of the retrieval before it, shape (NODES + 1, k), which `path` follows. All candidates
    from the earliest one that is still best for any source are compared. `expected` has the shape (NODES + 1, k); only
    its first row may be above 0 by what is already waiting.
    """
    nodes, count = expected.shape[0] - 1, expected.shape[1]
    slope = expected * step
    collected = slope.copy()
    collected[0] = 0.0  # what waits now was not collected by the retrieval at node 0, which failed or is long past
    lossy = bool((expected[-1] > window).any())
    price = np.minimum(price, 1e12)
    line = np.full_like(slope, np.inf)
    line[0] = 0.0
    own = slope * np.arange(nodes + 1)[:, None] + price  # of a node's line, beside the cheapest way to it
    former = np.zeros(slope.shape, dtype=np.int64)  # the node of the retrieval before
    columns = np.arange(count)
    nearest, farthest, head = int(least.min()), int(least.max()), 0
    too_near = np.arange(farthest - 1, nearest - 1, -1)[:, None] < least  # by the distance of the retrieval before
    for node in range(nearest, nodes + 1):
        last = node - nearest + 1
        candidates = line[head:last] - collected[head:last] * node
        if lossy:
            new = expected[node] - collected[head:last] / step
            candidates += LOSS_HOURS * np.maximum(new - window, 0.0)
        if farthest > nearest:
            near = max(node - farthest + 1, head)  # no candidate before it is too near
            candidates[near - head :][too_near[near - last :]] = np.inf
        best = candidates.argmin(axis=0)
        line[node] = candidates[best, columns] + own[node]
        former[node] = best = best + head
        if not lossy and node % SHARED_HEAD == 0:
            head = int(best.min())
    return *_first_two(former), former


def _first_two(former: IntArray) -> tuple[IntArray, IntArray]:
    """The first two nodes of each plan, from the node of the retrieval before each; the same if there is only one."""
    columns = np.arange(former.shape[1])
    first = second = np.full(former.shape[1], len(former) - 1)
    while (before := former[first, columns]).any():
        second, first = np.where(before, first, second), np.where(before, before, first)
    return first, second


def path(former: Sequence[int]) -> list[int]:
    """All nodes of a plan, from the node of the retrieval before each."""
    nodes: list[int] = []
    node = len(former) - 1
    while node > 0:
        nodes.append(node)
        node = former[node]
    return nodes[::-1]


def due_times_ahead(outlook: Outlook) -> list[list[float]]:
    """The coming due times of each source, hours on the axis of `calendar`; only the first is used.

    >>> one = np.ones(1)
    >>> flat = Outlook(np.linspace(0, 168, 2017)[None], 0 * one, 0 * one, one, 8 * one, one / 12, 168 * one, one / 0.01)
    >>> [round(time, 2) for time in due_times_ahead(flat)[0][:3]]
    [4.0, 8.0, 12.0]
    """
    if not outlook.now.size:
        return []
    expected, steps, least = _grid(outlook)
    first, second, former = cheapest_plans(expected, steps, outlook.price, least, outlook.window)
    refined = _refined(outlook, first * steps, second * steps, steps)
    gaps = np.clip(refined, outlook.least, np.maximum(outlook.least, outlook.longest))
    rows = zip(
        outlook.now.tolist(), gaps.tolist(), outlook.least.tolist(), steps.tolist(), former.T.tolist(), strict=True
    )
    return [
        [now + gap, *(now + node * step for node in path(nodes)[1:] if node * step >= gap + least)]
        for now, gap, least, step, nodes in rows
    ]
