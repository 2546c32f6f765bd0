"""Policies side by side: each learns from the same weeks and is tested on the next ones with as many retrievals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.planner.policies import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.learning import learn
from apps.retrieval.algorithms.sia.policies import MAX_PER_DAY, Rule
from apps.retrieval.algorithms.simulation import accounting
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace

LEARNING_WEEKS = 2
LEAST_GAP, LONGEST_GAP = DAY / MAX_PER_DAY, WEEK  # h
STATIC_TOLERANCE, REACTIVE_TOLERANCE = 0.002, 0.005  # of the retrievals


@dataclass(frozen=True)
class Fold:
    """A stretch of test, [start, end), and what was known before it.

    Parameters
    ----------
    name : str
    trace : Trace
        The postings of the history and of the test.
    start, end : float
        Hours on the axis of `calendar`.
    profiles : sequence of Profile, one per source, or empty
        The true mean rates, where the postings were generated from some.
    """

    name: str
    trace: Trace
    start: float
    end: float
    profiles: Sequence[Profile] = ()

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


@dataclass(frozen=True)
class Job:
    """A policy's test in one fold with several budgets."""

    fold: Fold
    policy: str
    budgets: tuple[float, ...]  # retrievals per source and day
    seed: int = 0
    cap: float = DAY  # h, the longest gap of the policies that have one

    def random(self) -> np.random.Generator:
        """The same random numbers each time, so that runs of a policy differ by its one scalar alone."""
        return np.random.default_rng(self.seed)

    def retrievals(self, budget: float) -> float:
        return budget * len(self.fold.trace) * self.fold.days


Evaluate = Callable[[float], accounting.Outcome]  # the outcome with this number of retrievals per source and day


def evaluated_timetables(job: Job, plan: Callable[[float], list[Timetable]]) -> Evaluate:
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

    `first` guesses the scalar for a budget, corrected by what the previous budget took; the retrievals go about as
    scalar ** `exponent`.
    """
    phases = job.random().random(len(job.fold.trace))
    former: list[tuple[float, float]] = []

    def outcome(scalar: float) -> accounting.Outcome:
        fold = job.fold
        return accounting.simulate_reactive(
            fold.test, plan(scalar), fold.start, fold.end, least_gap=LEAST_GAP, phases=phases
        )

    def evaluate(budget: float) -> accounting.Outcome:
        guess = first(budget)
        if former:
            guess *= former[-1][1] / first(former[-1][0])
        retrievals = job.retrievals(budget)
        scalar, found = accounting.matching(
            outcome, retrievals, first=guess, exponent=exponent, tolerance=REACTIVE_TOLERANCE
        )
        if abs(found.retrievals / retrievals - 1) < 0.1:  # else a bound decided, not the scalar
            former.append((budget, scalar))
        return found

    return evaluate


def of_paper(rule: Rule) -> Callable[[Job], Evaluate]:
    """A policy whose input is the budget itself and what it learns from the two weeks before the test."""

    def prepare(job: Job) -> Evaluate:
        learned = learn(job.fold.learning, job.fold.start, random=job.random())
        return evaluated_timetables(job, lambda per_day: rule(learned, per_day, random=job.random()))

    return prepare


def priced(job: Job, lessons: Lessons, *, longest: float = LONGEST_GAP, reacts: bool = True) -> Evaluate:
    weights = np.ones(len(job.fold.trace))

    def plan(price: float) -> accounting.Reactive:
        return PricedPlan(job.fold.trace, lessons, price, weights, LEAST_GAP, longest, reacts)

    return evaluated_reactive(job, plan, first=lambda budget: first_price(lessons, weights, budget), exponent=-0.5)
