"""The rules by which other feed readers schedule checks, from their source code, for comparison.

Each rule is a function (trace, sources, now) -> gap in hours, which uses no posting later than `now`; a common factor
on all gaps fits it to a budget.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.traces import Trace

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Rule = Callable[[Trace, IntArray, FloatArray], FloatArray]

MIN_GAP_HOURS = 1 / 12  # h


@dataclass(frozen=True)
class Peer:
    """A reactive plan: the rule's gap divided by `factor`, kept between five minutes and `longest` hours.

    Examples
    --------
    >>> trace = Trace.of(["a", "b"], [[1.0, 2.0, 3.0], []])
    >>> now = np.array([10.0, 10.0])
    >>> Peer(miniflux, trace, factor=7.0, longest=DAY).next(np.array([0, 1]), now, now).tolist()
    [18.0, 34.0]
    """

    rule: Rule
    trace: Trace
    factor: float
    longest: float = WEEK

    def next(self, sources: IntArray, previous: FloatArray, now: FloatArray) -> FloatArray:
        return now + np.clip(self.rule(self.trace, sources, now) / self.factor, MIN_GAP_HOURS, self.longest)


def freshrss(trace: Trace, sources: IntArray, now: FloatArray) -> FloatArray:
    """FreshRSS: one hour, whatever the source."""
    return np.ones(now.size)


def miniflux(trace: Trace, sources: IntArray, now: FloatArray) -> FloatArray:
    """Miniflux, entry_frequency: a week divided by the postings of the last seven days."""
    counts = trace.count(sources, now - WEEK, now)
    return np.asarray(np.divide(WEEK, counts, out=np.full(now.size, np.inf), where=counts > 0))


def newsblur(trace: Trace, sources: IntArray, now: FloatArray) -> FloatArray:
    """NewsBlur with one subscriber: an hour from one posting a day on, else (1 - postings a day) times 12 hours."""
    per_day = trace.count(sources, now - 30 * DAY, now) / 30
    return np.where(per_day >= 1, 1.0, (1 - per_day) * 12)


def commafeed(trace: Trace, sources: IntArray, now: FloatArray) -> FloatArray:
    """CommaFeed, empirical: 24, 12 or 6 hours after a month, two weeks or a week of silence.

    Otherwise half the mean interval of the last 20 postings, at most 6 hours.
    """
    known, first, last = _latest(trace, sources, now, 20)
    interval = np.divide(last - first, known - 1, out=np.full(now.size, np.inf), where=known > 1)
    silence = np.where(known > 0, now - last, np.inf)
    steps = [silence > 30 * DAY, silence > 14 * DAY, silence > 7 * DAY]
    return np.select(steps, [24.0, 12.0, 6.0], np.minimum(interval / 2, 6.0))


def mavg(trace: Trace, sources: IntArray, now: FloatArray) -> FloatArray:
    """FeedWatcher, moving average (Urbansky et al. 2011): the mean interval of the last 10 postings.

    The time since the last one counts as an interval as soon as it makes the mean longer.
    """
    known, first, last = _latest(trace, sources, now, 10)
    known_gaps = np.maximum(known - 1, 1)
    mean = np.maximum((last - first) / known_gaps, (now - first) / (known_gaps + 1))
    return np.where(known >= 2, mean, np.inf)


def _latest(trace: Trace, sources: IntArray, now: FloatArray, most: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Of each source's latest postings until now, at most `most`: how many, the first's and the last's time."""
    end = trace.position(sources, now)
    known = np.minimum(end - trace.starts[sources], most)
    times = trace.times if trace.times.size else np.zeros(1)  # where none is known any index will do
    first = times[np.clip(end - known, 0, times.size - 1)]
    return known, first, times[np.clip(end - 1, 0, times.size - 1)]
