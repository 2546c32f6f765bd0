"""Policies side by side: each learns from the same weeks and is tested on the next ones with as many retrievals."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np

from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.planner.policies import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.sia.learning import learn
from apps.retrieval.algorithms.sia.policies import Rule
from apps.retrieval.algorithms.simulation import peers
from apps.retrieval.algorithms.simulation.accounting import (
    Outcome,
    Reactive,
    matching,
    simulate_instants,
    simulate_reactive,
    simulate_timetables,
)
from apps.retrieval.algorithms.simulation.clairvoyant import clairvoyant_instants
from apps.retrieval.algorithms.simulation.folds import Fold
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles

LEAST_PER_DAY, MOST_PER_DAY = 1 / 7, 288.0
LEAST_GAP, LONGEST_GAP = DAY / MOST_PER_DAY, WEEK  # h
STATIC_TOLERANCE, REACTIVE_TOLERANCE = 0.002, 0.005  # of the retrievals


@dataclass(frozen=True)
class Job:
    """A policy's test in one fold with several budgets."""

    fold: Fold
    policy: str
    budgets: tuple[float, ...]  # retrievals per source and day
    seed: int = 0
    cap: float = DAY  # h, the longest gap of the policies that have one

    def random(self) -> np.random.Generator:
        """The same random numbers each time, so that one scalar alone tells a policy's tries apart."""
        return np.random.default_rng(self.seed)

    def retrievals(self, budget: float) -> float:
        return budget * len(self.fold.trace) * self.fold.days


@dataclass(frozen=True)
class Statistics:
    """What readers got; delays in minutes per posting."""

    mean: float
    median: float
    p95: float
    max: float
    std: float
    lost15: float  # share of postings that slipped out of a feed of 15 items unseen
    retrievals: float  # per source and day, realised

    @classmethod
    def of(cls, outcome: Outcome, fold: Fold) -> "Statistics":
        minutes = outcome.delays * 60
        median, p95 = np.percentile(minutes, [50, 95])
        return cls(
            mean=float(minutes.mean()),
            median=float(median),
            p95=float(p95),
            max=float(minutes.max()),
            std=float(minutes.std()),
            lost15=outcome.lost / minutes.size,
            retrievals=float(outcome.retrievals / (len(fold.trace) * fold.days)),
        )


STATISTICS = tuple(field.name for field in fields(Statistics))

Evaluate = Callable[[float], Outcome]  # the outcome with so many retrievals per source and day


@dataclass(frozen=True)
class Contender:
    """A policy in the comparison: `learn` does once what all budgets share.

    `effort` orders the jobs: roughly tenths of a second in one fold.
    """

    learn: Callable[[Job], Evaluate]
    effort: float = 1.0
    needs_truth: bool = False  # works only where the true rates are known


def averaged(results: Iterable[tuple[Statistics, float]]) -> Statistics:
    """The mean of several folds' statistics, each with its weight.

    Examples
    --------
    >>> low, high = Statistics(1, 1, 1, 1, 1, 0, 4), Statistics(4, 4, 4, 4, 4, 0.75, 4)
    >>> averaged([(low, 2.0), (high, 1.0)])
    Statistics(mean=2.0, median=2.0, p95=2.0, max=2.0, std=2.0, lost15=0.25, retrievals=4.0)
    """
    rows, weights = zip(*((list(asdict(statistics).values()), weight) for statistics, weight in results), strict=True)
    return Statistics(*np.average(rows, axis=0, weights=weights).tolist())


def evaluated_timetables(
    job: Job,
    plan: Callable[[float], list[Timetable]],
    *,
    first: Callable[[float], float] = float,
    exponent: float = 1.0,
) -> Evaluate:
    """Test a plan that depends on one scalar, by default the retrievals per source and day, at equal retrievals.

    `first` guesses the scalar for a budget; the retrievals go about as scalar ** `exponent`.
    """

    def outcome(scalar: float) -> Outcome:
        return simulate_timetables(job.fold.test, plan(scalar), job.fold.start, job.fold.end)

    def evaluate(budget: float) -> Outcome:
        retrievals = job.retrievals(budget)
        return matching(outcome, retrievals, first=first(budget), exponent=exponent, tolerance=STATIC_TOLERANCE)[1]

    return evaluate


def evaluated_reactive(
    job: Job, plan: Callable[[float], Reactive], *, first: Callable[[float], float], exponent: float
) -> Evaluate:
    """The same for a reactive plan; the scalar of the former budget tells where to look for the next one's."""
    phases = job.random().random(len(job.fold.trace))
    former: list[tuple[float, float]] = []

    def outcome(scalar: float) -> Outcome:
        fold = job.fold
        return simulate_reactive(fold.test, plan(scalar), fold.start, fold.end, least_gap=LEAST_GAP, phases=phases)

    def evaluate(budget: float) -> Outcome:
        guess = first(budget)
        if former:
            guess *= former[-1][1] / first(former[-1][0])
        retrievals = job.retrievals(budget)
        scalar, found = matching(outcome, retrievals, first=guess, exponent=exponent, tolerance=REACTIVE_TOLERANCE)
        if abs(found.retrievals / retrievals - 1) < 0.1:  # else a bound ruled, and the scalar says nothing
            former.append((budget, scalar))
        return found

    return evaluate


def of_paper(rule: Rule) -> Callable[[Job], Evaluate]:
    """A policy that is told the budget itself and what the two weeks before the test taught."""

    def prepare(job: Job) -> Evaluate:
        learned = learn(job.fold.learning, job.fold.start, random=job.random())

        def plan(per_day: float) -> list[Timetable]:
            return rule(learned, per_day, random=job.random(), least=LEAST_PER_DAY, most=MOST_PER_DAY)

        return evaluated_timetables(job, plan)

    return prepare


def _peer(rule: peers.Rule, longest: float = WEEK) -> Callable[[Job], Evaluate]:
    def prepare(job: Job) -> Evaluate:
        def plan(factor: float) -> Reactive:
            return peers.Peer(rule, job.fold.trace, factor, longest)

        return evaluated_reactive(job, plan, first=lambda budget: budget / 4, exponent=1.0)

    return prepare


def _clairvoyant(job: Job) -> Evaluate:
    """No floor and no least gap: a bound for every plan with as many retrievals."""
    test = job.fold.test

    def outcome(price: float) -> Outcome:
        return simulate_instants(test, [clairvoyant_instants(times, price) for times in test.parts])

    def evaluate(budget: float) -> Outcome:
        retrievals = job.retrievals(budget)
        return matching(outcome, retrievals, first=4 / budget**2, exponent=-0.5, tolerance=STATIC_TOLERANCE)[1]

    return evaluate


def priced(job: Job, lessons: Lessons, *, longest: float = LONGEST_GAP, reacts: bool = True) -> Evaluate:
    weights = np.ones(len(job.fold.trace))

    def plan(price: float) -> Reactive:
        return PricedPlan(job.fold.trace, lessons, price, weights, LEAST_GAP, longest, reacts)

    return evaluated_reactive(job, plan, first=lambda budget: first_price(lessons, weights, budget), exponent=-0.5)


def _ours_capped(job: Job) -> Evaluate:
    lessons = Lessons.learnt(job.fold.trace, job.fold.start, job.fold.end, seed=job.seed)
    return priced(job, lessons, longest=job.cap)


def _hindsight(job: Job) -> Evaluate:
    """The same planner, which knows the profiles of the very weeks of the test; they teach it nothing more."""
    fold = job.fold
    priors = learn_priors(fold.test, fold.end, random=job.random())
    profiles = learn_profiles(fold.test, fold.end, priors)
    lessons = Lessons([five_minute_rates(profiles.hourly, profiles.minutes)], fold.start)
    return priced(job, lessons, reacts=False)


def _oracle(job: Job) -> Evaluate:
    """The same planner, which knows the rates that the postings were drawn from."""
    lessons = Lessons([np.array([profile.rates for profile in job.fold.profiles])], job.fold.start)
    return priced(job, lessons, reacts=False)


# Peers, and bounds that no plan can reach; `retrieval.policies` has those that a plan may follow.
OTHERS: Mapping[str, Contender] = {
    "miniflux": Contender(_peer(peers.miniflux, longest=DAY), effort=25.0),
    "newsblur": Contender(_peer(peers.newsblur), effort=5.0),
    "commafeed": Contender(_peer(peers.commafeed), effort=70.0),
    "freshrss": Contender(_peer(peers.freshrss)),
    "mavg": Contender(_peer(peers.mavg), effort=30.0),
    "ours_capped": Contender(_ours_capped, effort=800.0),
    "hindsight": Contender(_hindsight, effort=600.0),
    "oracle": Contender(_oracle, effort=600.0, needs_truth=True),
    "clairvoyant": Contender(_clairvoyant, effort=25.0),
}
