"""Planning in bytes beside planning in requests: the delays of our own policy with as many bytes received."""

import gzip
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import WEEK, epoch_of, hours_of
from apps.retrieval.algorithms.simulation.accounting import Outcome, matching, simulate_reactive
from apps.retrieval.algorithms.simulation.comparison import LEARNING_WEEKS, LEAST_GAP, Fold
from apps.retrieval.algorithms.simulation.priced_plan import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.planner.state import HEADERS
from lab.evaluations.retrieval.folds import NamedFold, cut
from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.rendering import render
from lab.worlds.server import REAL_TIME
from lab.worlds.trace import read_feeds, read_sources

SHARES = (0.25, 0.5, 0.75)  # of sources with validators, which answer 304 when they have nothing new
WEEKS = 2  # of the test
SHOWN = 20  # postings per document
LOGGED = 2  # times that costs are learned from a log, the first time that of planning in requests
TOLERANCE = 0.005  # of the bytes


@dataclass(frozen=True)
class Answers:
    """What sources answer; arrays (n,)."""

    whole: FloatArray  # bytes of a document
    validated: NDArray[np.bool_]

    def sizes(self, fold: Fold, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
        """The bytes and the retrievals of each source in the test."""
        made = [times[times < fold.end] for times in outcome.times]
        found = [
            int((np.diff(np.searchsorted(postings, times, side="right"), prepend=0) > 0).sum())
            for postings, times in zip(fold.test.parts, made, strict=True)
        ]
        retrievals = np.array([times.size for times in made], dtype=np.float64)
        documents = np.where(self.validated, found, retrievals)
        return HEADERS * retrievals + self.whole * documents, retrievals


def read_fold(items: Path, week: int) -> tuple[NamedFold, FloatArray]:
    """Two weeks of test as `folds.cut` begins them, of good sources, and the packed size of each one's document then.

    `items` has lines `src`, `t`, `title`, `desc`; sources.csv is beside it.
    """
    with items.with_name("sources.csv").open(encoding="utf-8", newline="") as lines:
        sources = read_sources(lines, good_only=True)
    with lzma.open(items, "rt", encoding="utf-8") as lines:
        feeds = {str(feed.number): feed for feed in read_feeds(lines, sources, begin=0, end=np.inf)}
    trace = Trace.of(list(feeds), [hours_of(np.array(feed.times)) for feed in feeds.values()])
    fold = cut(trace, week)
    sizes = [_size(feeds[name], float(epoch_of(fold.start))) for name in fold.trace.names]
    return replace(fold, end=fold.start + WEEKS * WEEK), np.array(sizes)


def _size(feed: Feed, time: float) -> float:
    """The bytes of a document on the wire."""
    count = feed.count_until(time)
    return float(len(gzip.compress(render(feed, max(count - SHOWN, 0), count, REAL_TIME, Addresses(80, "ab")))))


def compare(fold: Fold, sizes: FloatArray, per_day: float, shares: Sequence[float] = SHARES) -> dict[str, float]:
    """The mean delays in minutes at `per_day` requests per source, and planned for as many bytes instead."""
    before = replace(fold, start=fold.start - LEARNING_WEEKS * WEEK, end=fold.start)
    planned, logged = _Planned.of(fold), _Planned.of(before)
    requests, log = planned.at_requests(per_day), logged.at_requests(per_day)
    validated = np.random.default_rng(0).permutation(len(sizes)) / len(sizes)
    figures: dict[str, float] = {}
    for share in shares:
        answers = Answers(sizes, validated < share)
        learned = log
        for _ in range(LOGGED):
            received, made = answers.sizes(before, learned)
            costs = received / np.maximum(made, 1)
            learned = logged.at_bytes(answers, costs, float(answers.sizes(before, log)[0].sum()))
        received = answers.sizes(fold, requests)[0]
        outcome = planned.at_bytes(answers, costs, float(received.sum()))
        means = {"requests": requests.delays.mean() * 60, "bytes": outcome.delays.mean() * 60}
        figures |= {f"validators{share:g}.{name}.mean": float(mean) for name, mean in means.items()} | {
            f"validators{share:g}.bytes_ratio": float(answers.sizes(fold, outcome)[0].sum() / received.sum()),
            f"validators{share:g}.delay_ratio": float(means["bytes"] / means["requests"]),
        }
    return figures


@dataclass(frozen=True)
class _Planned:
    """Our own policy in a fold."""

    fold: Fold
    lessons: Lessons

    @classmethod
    def of(cls, fold: Fold) -> "_Planned":
        return cls(fold, Lessons.learnt(fold.trace, fold.start, fold.end, seed=0))

    def at_requests(self, per_day: float) -> Outcome:
        ones = np.ones(len(self.fold.trace))
        first = first_price(self.lessons, ones, per_day)
        wanted = per_day * ones.size * self.fold.days
        return matching(lambda price: self._made(price, ones), wanted, first=first, exponent=-0.5, tolerance=TOLERANCE)[
            1
        ]

    def at_bytes(self, answers: Answers, costs: FloatArray, wanted: float) -> Outcome:
        def outcome(price: float) -> Outcome:
            made = self._made(price, 1 / costs)
            return replace(made, retrievals=float(answers.sizes(self.fold, made)[0].sum()))

        first = float((self.lessons.root_masses() * np.sqrt(costs)).sum() * self.fold.days / 7 / wanted) ** 2 / 2
        return matching(outcome, wanted, first=first, exponent=-0.5, tolerance=TOLERANCE)[1]

    def _made(self, price: float, weights: FloatArray) -> Outcome:
        fold = self.fold
        plan = PricedPlan(fold.trace, self.lessons, price, weights, fold.least, fold.longest)
        phases = np.random.default_rng(0).random(len(fold.trace))
        return simulate_reactive(fold.test, plan, fold.start, fold.end, least_gap=LEAST_GAP, phases=phases)
