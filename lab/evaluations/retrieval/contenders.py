"""What `evaluate_retrieval` compares: the portal's policies, other readers' rules, and bounds no plan can reach."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache

import numpy as np

from apps.retrieval.algorithms.calendar import DAY, WEEK
from apps.retrieval.algorithms.planner.policies import Lessons
from apps.retrieval.algorithms.simulation.accounting import Outcome, Reactive, matching, simulate_times
from apps.retrieval.algorithms.simulation.comparison import (
    STATIC_TOLERANCE,
    Evaluate,
    Fold,
    Job,
    evaluated_reactive,
    priced,
)
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles
from apps.retrieval.policies import all_policies
from lab.evaluations.retrieval import peers
from lab.evaluations.retrieval.clairvoyant import clairvoyant_times


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


@dataclass(frozen=True)
class Contender:
    """A policy in the comparison: `learn` does once what all budgets share.

    `effort` orders the jobs: roughly tenths of a second in one fold.
    """

    learn: Callable[[Job], Evaluate]
    effort: float = 1.0
    needs_truth: bool = False  # works only where the true rates are known


@cache
def contenders() -> Mapping[str, Contender]:
    return {name: Contender(policy.backtest, policy.effort) for name, policy in all_policies().items()} | dict(OTHERS)


def run(job: Job) -> list[Statistics]:
    """Test a policy; one result per budget."""
    evaluate = contenders()[job.policy].learn(job)
    return [Statistics.of(evaluate(budget), job.fold) for budget in job.budgets]


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
        return simulate_times(test, [clairvoyant_times(times, price) for times in test.parts])

    def evaluate(budget: float) -> Outcome:
        retrievals = job.retrievals(budget)
        return matching(outcome, retrievals, first=4 / budget**2, exponent=-0.5, tolerance=STATIC_TOLERANCE)[1]

    return evaluate


def _ours_capped(job: Job) -> Evaluate:
    lessons = Lessons.learnt(job.fold.trace, job.fold.start, job.fold.end, seed=job.seed)
    return priced(job, lessons, longest=job.cap)


def _hindsight(job: Job) -> Evaluate:
    """The same planner with the profiles of the tested weeks themselves; retrievals change nothing about them."""
    fold = job.fold
    priors = learn_priors(fold.test, fold.end, random=job.random())
    profiles = learn_profiles(fold.test, fold.end, priors)
    lessons = Lessons([five_minute_rates(profiles.hourly, profiles.minutes)], fold.start)
    return priced(job, lessons, reacts=False)


def _oracle(job: Job) -> Evaluate:
    """The same planner with the rates from which the postings were drawn."""
    lessons = Lessons([np.array([profile.rates for profile in job.fold.profiles])], job.fold.start)
    return priced(job, lessons, reacts=False)


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
