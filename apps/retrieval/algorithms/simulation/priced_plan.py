"""The portal's own plan in the simulation of recorded postings."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.planner.lookahead import Outlook, next_gaps
from apps.retrieval.algorithms.planner.price import closed_form_price, root_mass
from apps.retrieval.algorithms.simulation.positions import Positions
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles

LEARN_EVERY = DAY  # h; profiles are learned every night


class Lessons:
    """What is expected of n sources, learned each night of a stretch from the postings until then; for all prices."""

    def __init__(self, nightly: Sequence[FloatArray], start: float) -> None:
        """`nightly`: postings per hour in equal bins of the week, shape (n, bins), of each night from `start` on."""
        hours = WEEK / nightly[0].shape[1]
        cumulated = np.cumsum(np.stack(nightly) * hours, axis=2)
        # Half the memory for six weeks of nights; a fast source's week sums up to a thousand, so it is exact enough.
        self._cumulated = np.pad(cumulated, ((0, 0), (0, 0), (1, 0))).astype(np.float32)
        self._start = start

    @classmethod
    def learnt(cls, history: Trace, start: float, end: float, *, seed: int) -> "Lessons":
        """Learn each night from scratch, from nothing later than that night."""
        nightly = []
        for night in np.arange(start, end, LEARN_EVERY):
            known = history.window(-np.inf, night)
            profiles = learn_profiles(known, night, learn_priors(known, night, random=np.random.default_rng(seed)))
            nightly.append(five_minute_rates(profiles.hourly, profiles.minutes))
        return cls(nightly, start)

    def known(self, sources: IntArray, now: FloatArray) -> FloatArray:
        """Postings cumulated over the week, as known of each source at its own time `now`; shape (k, bins + 1)."""
        nights = np.clip(((now - self._start) / LEARN_EVERY).astype(np.int64), 0, len(self._cumulated) - 1)
        return self._cumulated[nights, sources].astype(np.float64)

    def root_masses(self) -> FloatArray:
        """`price.root_mass` of each source, as learned on the first night."""
        bins = self._cumulated.shape[2] - 1
        return root_mass(np.diff(self._cumulated[0], axis=1) * (bins / WEEK), WEEK)


@dataclass
class PricedPlan:
    """Every source follows its own cheapest plan at one price, replanned after each retrieval.

    Parameters
    ----------
    trace : Trace, of n sources
        Only postings not later than the current retrieval are used.
    lessons : Lessons
        What is known of profiles at each time.
    price : float
        Posting-hours per retrieval.
    weights : array (n,)
    """

    trace: Trace
    lessons: Lessons
    price: float
    weights: FloatArray
    least: FloatArray | float
    longest: float
    seen: FloatArray = field(init=False)
    expected: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.seen, self.expected = (np.full(len(self.trace), value) for value in Activity())

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.trace)

    def next(self, sources: IntArray, previous: FloatArray, now: FloatArray) -> FloatArray:
        ones = np.ones(len(sources))
        outlook = Outlook(
            cumulated=self.lessons.known(sources, now),
            now=now,
            waiting=0 * ones,
            factor=ones,
            price=self.price / np.maximum(self.weights[sources], 1e-12),
            least=np.broadcast_to(self.least, len(self.trace))[sources],
            longest=self.longest * ones,
            window=np.inf * ones,
        )
        outlook = replace(outlook, factor=self._observed(outlook, sources, previous))
        return np.asarray(now + next_gaps(outlook))

    def _observed(self, outlook: Outlook, sources: IntArray, previous: FloatArray) -> FloatArray:
        """The activity after this retrieval."""
        before, until = outlook.expected(np.vstack((previous, outlook.now)))
        new = self._positions.count(sources, previous, outlook.now)
        activity = Activity(self.seen[sources], self.expected[sources])
        activity = activity.after(outlook.now - previous, new, until - before)
        self.seen[sources], self.expected[sources] = activity
        return np.asarray(activity.factor)


def first_price(lessons: Lessons, weights: FloatArray, per_day: float) -> float:
    """A first guess of the price for an average number of retrievals per source and day."""
    return closed_form_price(lessons.root_masses(), weights, per_day * 7 * len(weights))
