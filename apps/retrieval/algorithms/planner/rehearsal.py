"""A week of the plan simulated on expectations: what a price buys, and the price that meets a budget."""

import math
from dataclasses import dataclass

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.lookahead import Outlook, next_gaps
from apps.retrieval.algorithms.planner.price import closed_form_price, root_mass

ROUNDS = 6  # of the search for a price
CLOSE_ENOUGH = 0.005  # of the retrievals
UNMOVED = -0.02  # exponent of retrievals in the price, -0.5 in theory, above which the bounds of gaps decide alone
CURVE = tuple(4.0**power for power in (-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2))  # prices of a what-if curve


@dataclass(frozen=True)
class Rehearsal:
    """What is expected of k sources at one price; arrays of shape (k,)."""

    retrievals: FloatArray  # per hour of the source
    postings: FloatArray  # per hour of the source
    delay: FloatArray  # posting-hours per hour of the source: divided by `postings`, the mean delay

    @property
    def mean_delay(self) -> float:
        """Hours per posting, over all sources."""
        return float(self.delay.sum() / max(self.postings.sum(), 1e-300))


def rehearse(outlook: Outlook, hours: float = WEEK) -> Rehearsal:
    """Simulate the plan as if exactly the expected postings appeared, for some hours from the outlook's time on.

    Each source is retrieved until once at or behind the end; its sums are divided by its own duration.

    Examples
    --------
    >>> one = np.ones(1)
    >>> flat = Outlook(np.linspace(0, 168, 2017)[None], 0 * one, 0 * one, one, 8 * one, one / 12, 168 * one, one / 0.01)
    >>> round(float(rehearse(flat).retrievals[0]), 3), round(rehearse(flat).mean_delay, 3)
    (0.25, 2.0)
    """
    start, now = outlook.now, outlook.now.copy()
    made, delay = np.zeros(now.size), np.zeros(now.size)
    running = np.arange(now.size)
    while running.size:
        part = outlook.at(running, now[running])
        gaps = next_gaps(part)
        delay[running] += part.expected_delay(gaps)
        made[running] += 1
        now[running] += gaps
        running = running[now[running] < start[running] + hours]
    lasted = now - start
    rate = outlook.factor * outlook.cumulated[:, -1] / WEEK
    return Rehearsal(retrievals=made / lasted, postings=rate, delay=delay / lasted)


def price_for(
    outlook: Outlook, weights: FloatArray, costs: FloatArray, budget: float, *, first: float | None = None
) -> float:
    """The price at which retrievals of these sources take this much of the budget per hour of real time.

    Parameters
    ----------
    outlook : Outlook, of k sources
        Its prices are ignored.
    weights, costs : arrays (k,)
        Importance per unit of the budget, and units of a retrieval times the source's hours in one of real time.
    budget : float, > 0
        Of all of them together, per hour of real time; the number of their retrievals if each costs one.
    first : float, optional
        The price that is tried first; by default that of the closed form.

    The nearest price tried is returned: bounds of gaps, or a few sources with sharp peaks, may allow no better.
    """
    rates = outlook.factor[:, None] * np.diff(outlook.cumulated, axis=1) * (outlook.cumulated.shape[1] - 1) / WEEK
    price = first or closed_form_price(root_mass(rates, WEEK) * costs, weights, budget * WEEK)
    exponent, tried = -0.5, list[tuple[float, float]]()
    for _ in range(ROUNDS):
        spent = float((rehearse(outlook.priced(price, weights)).retrievals * costs).sum())
        error = math.log(spent / budget)
        former = tried[-1] if tried else (price, error)
        tried.append((price, error))
        if abs(error) < CLOSE_ENOUGH:
            break
        if former[0] != price:
            moved = math.log(price / former[0])
            measured = (error - former[1]) / moved
            if abs(moved) > 1 and measured > UNMOVED:
                break
            exponent = min(max(measured, -1.0), -0.1)
        price *= math.exp(min(max(-error / exponent, -3.0), 3.0))
    return min(tried, key=lambda each: abs(each[1]))[0]


def what_if(outlook: Outlook, weights: FloatArray, costs: FloatArray, price: float) -> list[tuple[float, float]]:
    """The budget per hour of real time, and the expected mean delay in hours per posting, at prices around this one.

    The delay is over all postings alike, whatever their source's weight; cheapest price last.
    """
    # All prices side by side: a rehearsal takes as long as its source that is retrieved most often.
    prices, copies = (
        np.repeat(price * np.array(CURVE[::-1]), len(weights)),
        np.tile(np.arange(len(weights)), len(CURVE)),
    )
    rehearsal = rehearse(outlook.part(copies).priced(prices, weights[copies]))
    made, delay, postings = (
        values.reshape(len(CURVE), -1) for values in (rehearsal.retrievals, rehearsal.delay, rehearsal.postings)
    )
    return list(zip((made @ costs).tolist(), (delay.sum(axis=1) / postings.sum(axis=1)).tolist(), strict=True))
