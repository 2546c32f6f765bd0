"""Policies side by side: each learns from the same weeks and is tested on the next ones with as many retrievals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.sia.metrics import mean_age, mean_freshness
from apps.retrieval.algorithms.sia.policies import MAX_PER_DAY
from apps.retrieval.algorithms.simulation import accounting
from apps.retrieval.algorithms.simulation.priced_plan import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace

LEARNING_WEEKS = 2
LEAST_GAP, LONGEST_GAP = DAY / MAX_PER_DAY, WEEK  # h
STATIC_TOLERANCE, REACTIVE_TOLERANCE = 0.002, 0.005  # of the retrievals


@dataclass(frozen=True)
class Fold:
    """A test period, [start, end), and what was known before it.

    Parameters
    ----------
    trace : Trace
        The postings of the history and of the test.
    start, end : float
        Hours on the axis of `calendar`.
    weights : array (n,) or number
        Importance of each source.
    least, longest : array (n,) or number, number
        Bounds of each gap, h.
    """

    trace: Trace
    start: float
    end: float
    weights: FloatArray | float = 1.0
    least: FloatArray | float = LEAST_GAP
    longest: float = LONGEST_GAP

    @cached_property
    def learning(self) -> Trace:
        """The postings of the two weeks before the test."""
        return self.trace.window(self.start - LEARNING_WEEKS * WEEK, self.start)

    @cached_property
    def test(self) -> Trace:
        return self.trace.window(self.start, self.end)

    @property
    def days(self) -> float:
        return (self.end - self.start) / DAY


def measures(outcome: accounting.Outcome, fold: Fold) -> dict[str, float]:
    """What readers got: delays in minutes per posting; age and freshness averaged over time and sources.

    `weighted` counts each posting by its source's weight; `retrievals` are those of a source and day.
    """
    minutes = outcome.delays * 60
    weights = np.broadcast_to(fold.weights, len(fold.trace))[fold.test.owners]
    each = [(*pair, fold.start, fold.end) for pair in zip(fold.test.parts, outcome.times, strict=True)]
    found = {
        "mean": minutes.mean(),
        "p95": np.percentile(minutes, 95),
        "retrievals": outcome.retrievals / (len(fold.trace) * fold.days),
        "weighted": np.average(minutes, weights=np.maximum(weights, 1e-12)),
        "age": 60 * np.mean([mean_age(*source) for source in each]),
        "freshness": np.mean([mean_freshness(*source) for source in each]),
    }
    return {name: float(value) for name, value in found.items()}


@dataclass(frozen=True)
class Job:
    """A policy's test in one fold."""

    fold: Fold
    seed: int = 0
    is_short: bool = False  # do not count each source's retrieval past the end, which would matter

    def random(self) -> np.random.Generator:
        """The same random numbers each time, so that runs of a policy differ by its one scalar alone."""
        return np.random.default_rng(self.seed)

    def retrievals(self, budget: float) -> float:
        return budget * len(self.fold.trace) * self.fold.days


Evaluate = Callable[[float], accounting.Outcome]  # the outcome with this number of retrievals per source and day


def evaluated_timetables(job: Job, plan: Callable[[float], Sequence[Timetable]]) -> Evaluate:
    """Test a plan that depends on the retrievals per source and day, at equal retrievals."""

    def outcome(per_day: float) -> accounting.Outcome:
        return accounting.simulate_timetables(job.fold.test, plan(per_day), job.fold.start, job.fold.end)

    def evaluate(budget: float) -> accounting.Outcome:
        return accounting.matching(outcome, job.retrievals(budget), first=budget, tolerance=STATIC_TOLERANCE)[1]

    return evaluate


def evaluated_reactive(
    job: Job, plan: Callable[[float], accounting.Reactive], *, first: Callable[[float], float], exponent: float
) -> Evaluate:
    """Test a reactive plan that depends on one scalar, at equal retrievals.

    `first` guesses the scalar for a budget, corrected by what the previous budget took; the retrievals are about
    proportional to scalar ** `exponent`.
    """
    phases = job.random().random(len(job.fold.trace))
    former: list[tuple[float, float]] = []

    def outcome(scalar: float) -> accounting.Outcome:
        fold = job.fold
        made = accounting.simulate_reactive(
            fold.test, plan(scalar), fold.start, fold.end, least_gap=LEAST_GAP, phases=phases
        )
        return replace(made, retrievals=made.retrievals - job.is_short * len(fold.trace))

    def evaluate(budget: float) -> accounting.Outcome:
        guess = first(budget)
        if former:
            guess *= former[-1][1] / first(former[-1][0])
        retrievals = job.retrievals(budget)
        scalar, found = accounting.matching(
            outcome, retrievals, first=guess, exponent=exponent, tolerance=REACTIVE_TOLERANCE
        )
        if abs(found.retrievals / retrievals - 1) < 0.1:  # otherwise a bound applied, not the scalar
            former.append((budget, scalar))
        return found

    return evaluate


def priced(job: Job, lessons: Lessons) -> Evaluate:
    fold = job.fold
    weights, least = (np.broadcast_to(value, len(fold.trace)) for value in (fold.weights, fold.least))

    def plan(price: float) -> accounting.Reactive:
        return PricedPlan(fold.trace, lessons, price, weights, least, fold.longest)

    return evaluated_reactive(job, plan, first=lambda budget: first_price(lessons, weights, budget), exponent=-0.5)
