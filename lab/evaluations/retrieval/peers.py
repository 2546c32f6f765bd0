"""The rules by which other feed readers schedule checks, from their source code, for comparison.

Each rule is a function (positions, sources, now) -> gap in hours, which uses no posting later than `now`; a common
factor on all gaps fits it to a budget.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.simulation.positions import Positions
from apps.retrieval.algorithms.traces import Trace

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Rule = Callable[[Positions, IntArray, FloatArray], FloatArray]

MIN_GAP_HOURS = 1 / 12  # h
SECONDS_A_WEEK = 604_800


@dataclass(frozen=True)
class Rival:
    """A reader and its rule as its users get it."""

    name: str
    gap: "float | Rule"  # h; a number is the same for all sources
    is_default: bool
    read: str  # the files that say so
    longest: float = WEEK  # h, also where a factor fits the rule to a budget


@dataclass(frozen=True)
class Peer:
    """A reactive plan: the rule's gap divided by `factor`, kept between five minutes and `longest` hours.

    Examples
    --------
    >>> trace = Trace.of(["a", "b"], [[1.0, 2.0, 3.0], []])
    >>> now = np.array([10.0, 10.0])
    >>> Peer(miniflux, trace, factor=1 / 12, longest=DAY).next(np.array([0, 1]), now, now).tolist()
    [22.0, 34.0]
    """

    rule: Rule
    trace: Trace
    factor: float
    longest: float = WEEK

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.trace)

    def next(self, sources: IntArray, previous: FloatArray, now: FloatArray) -> FloatArray:
        return now + np.clip(self.rule(self._positions, sources, now) / self.factor, MIN_GAP_HOURS, self.longest)


def miniflux(positions: Positions, sources: IntArray, now: FloatArray) -> FloatArray:
    """Miniflux, entry_frequency: a week divided by a virtual number of postings in it.

    That is how many of the mean gap between the last seven days' postings fit into a week, rounded up; none of a
    single posting.
    """
    begin, end = positions.position(sources, now - WEEK), positions.position(sources, now)
    times, count = positions.trace.times if positions.trace.times.size else np.zeros(1), end - begin
    first, last = (times[np.clip(place, 0, times.size - 1)] for place in (begin, end - 1))
    mean_gap = np.floor(3_600 * np.divide(last - first, count - 1, out=np.zeros(now.size), where=count > 1))
    virtual = np.ceil(np.divide(SECONDS_A_WEEK, mean_gap, out=np.zeros(now.size), where=mean_gap > 0))
    return np.asarray(np.divide(WEEK, virtual, out=np.full(now.size, np.inf), where=virtual > 0))


def newsblur(positions: Positions, sources: IntArray, now: FloatArray) -> FloatArray:
    """NewsBlur with one paying subscriber: an hour from one posting a day on, else (1 - postings a day) times 12 hours.

    A random part of up to a quarter is added; its mean is.
    """
    per_day = positions.count(sources, now - 30 * DAY, now) / 30
    return 1.125 * np.where(per_day >= 1, 1.0, (1 - per_day) * 12)


def commafeed(positions: Positions, sources: IntArray, now: FloatArray) -> FloatArray:
    """CommaFeed: 4, 2 or 1 hours after 30, 14 or 7 days of silence; 4 if only one posting is known.

    Otherwise half the mean interval of the postings that the feed shows, between 5 minutes and an hour.
    """
    known, first, last = _latest(positions, sources, now, 20)
    interval = np.divide(last - first, known - 1, out=np.full(now.size, np.inf), where=known > 1)
    silence = np.where(known > 0, now - last, np.inf)
    steps = [silence >= 30 * DAY, silence >= 14 * DAY, silence >= 7 * DAY, known < 2]
    return np.select(steps, [4.0, 2.0, 1.0, 4.0], np.clip(interval / 2, MIN_GAP_HOURS, 1.0))


def mavg(positions: Positions, sources: IntArray, now: FloatArray) -> FloatArray:
    """FeedWatcher, moving average (Urbansky et al. 2011): the mean interval of the last 10 postings.

    The time since the last one counts as an interval as soon as it makes the mean longer.
    """
    known, first, last = _latest(positions, sources, now, 10)
    known_gaps = np.maximum(known - 1, 1)
    mean = np.maximum((last - first) / known_gaps, (now - first) / (known_gaps + 1))
    return np.where(known >= 2, mean, np.inf)


def _latest(
    positions: Positions, sources: IntArray, now: FloatArray, most: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Of each source's latest postings until now, at most `most`: how many, the first's and the last's time."""
    trace = positions.trace
    end = positions.position(sources, now)
    known = np.minimum(end - trace.starts[sources], most)
    times = trace.times if trace.times.size else np.zeros(1)  # where none is known any index will do
    first = times[np.clip(end - known, 0, times.size - 1)]
    return known, first, times[np.clip(end - 1, 0, times.size - 1)]


# At equal retrievals all that check every feed equally often are one policy: `uniform`.
FIXED = (
    Rival("Miniflux, round_robin", 1.0, True, "internal/config/options.go, internal/model/feed.go"),
    Rival("FreshRSS", 1.0, True, "config-user.default.php: ttl_default"),
    Rival("reader", 1.0, True, "src/reader/types.py: UpdateConfig"),
    Rival("tt-rss", 0.5, True, "classes/Prefs.php: DEFAULT_UPDATE_INTERVAL"),
)
RIVALS = {
    "miniflux": Rival(
        "Miniflux, entry_frequency", miniflux, False,
        "internal/storage/feed.go: WeeklyFeedEntryCount, internal/model/feed.go: ScheduleNextCheck", longest=DAY,
    ),
    "newsblur": Rival("NewsBlur", newsblur, True, "apps/rss_feeds/models.py: get_next_scheduled_update"),
    "commafeed": Rival(
        "CommaFeed", commafeed, True, "FeedRefreshIntervalCalculator.java, CommaFeedConfiguration.java (since 5.6)"
    ),
    "mavg": Rival("FeedWatcher, moving average", mavg, False, "Urbansky et al. 2011, section 3"),
}  # fmt: skip
