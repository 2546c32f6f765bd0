"""What `evaluate_retrieval` compares: the portal's policies, other readers' rules, and bounds no plan can reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, partial

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.planner.lookahead import Outlook
from apps.retrieval.algorithms.simulation.accounting import (
    Outcome,
    Reactive,
    matching,
    simulate_reactive,
    simulate_times,
)
from apps.retrieval.algorithms.simulation.comparison import (
    LEAST_GAP,
    STATIC_TOLERANCE,
    Evaluate,
    Fold,
    Job,
    evaluated_reactive,
    measures,
    priced,
)
from apps.retrieval.algorithms.simulation.priced_plan import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles
from apps.retrieval.planner.trials import prepared
from apps.retrieval.policies import Policy, all_policies
from lab.evaluations.retrieval import peers
from lab.evaluations.retrieval.clairvoyant import clairvoyant_times
from lab.evaluations.retrieval.folds import NamedFold

WINDOW = 15  # items that a feed shows; older ones have dropped out


@dataclass(frozen=True)
class Statistics:
    """What readers got: what `measures` has, and more.

    `lost15` is the share of postings that left a feed of 15 items before a retrieval.
    """

    mean: float
    median: float
    p95: float
    max: float
    std: float
    lost15: float
    retrievals: float
    weighted: float
    age: float
    freshness: float

    @classmethod
    def of(cls, outcome: Outcome, fold: Fold) -> "Statistics":
        minutes = outcome.delays * 60
        return cls(
            **measures(outcome, fold),
            median=float(np.median(minutes)),
            max=float(minutes.max()),
            std=float(minutes.std()),
            lost15=lost(fold.test.parts, outcome.times) / minutes.size,
        )


STATISTICS = tuple(each.name for each in fields(Statistics))


def lost(postings: Sequence[FloatArray], retrievals: Sequence[FloatArray]) -> int:
    """How many postings slipped out of feeds of WINDOW items between two retrievals; the times of each source."""
    found = [
        np.diff(np.searchsorted(times, retrieved_at, side="right"), prepend=0)
        for times, retrieved_at in zip(postings, retrievals, strict=True)
    ]
    return sum(int(np.maximum(counts - WINDOW, 0).sum()) for counts in found)


@dataclass(frozen=True)
class ContenderJob(Job):
    """A contender's test in one fold with several budgets."""

    fold: NamedFold
    policy: str = field(kw_only=True)
    budgets: tuple[float, ...] = field(kw_only=True)  # retrievals per source and day
    cap: float = field(default=DAY, kw_only=True)  # h, the longest gap of the policies that have one


@dataclass(frozen=True)
class Contender:
    """A policy in the comparison: `learn` does once what all budgets share.

    `effort` orders the jobs: roughly tenths of a second in one fold.
    """

    learn: Callable[[ContenderJob], Evaluate]
    effort: float = 1.0
    needs_truth: bool = False  # works only where the true rates are known


@cache
def contenders() -> Mapping[str, Contender]:
    return {policy.name: _of_portal(policy) for policy in all_policies().values()} | dict(OTHERS)


def run(job: ContenderJob) -> list[Statistics]:
    """Test a policy; one result per budget."""
    evaluate = contenders()[job.policy].learn(job)
    return [Statistics.of(evaluate(budget), job.fold) for budget in job.budgets]


def averaged(results: Iterable[tuple[Statistics, float]]) -> Statistics:
    """The mean of several folds' statistics, each with its weight.

    Examples
    --------
    >>> low, high = Statistics(1, 1, 1, 1, 1, 0, 4, 1, 1, 1), Statistics(4, 4, 4, 4, 4, 0.75, 4, 4, 4, 0)
    >>> found = averaged([(low, 2.0), (high, 1.0)])
    >>> found.mean, found.lost15, round(found.freshness, 2)
    (2.0, 0.25, 0.67)
    """
    rows, weights = zip(*((list(asdict(statistics).values()), weight) for statistics, weight in results), strict=True)
    return Statistics(*np.average(rows, axis=0, weights=weights).tolist())


def _of_portal(policy: Policy) -> Contender:
    return Contender(partial(prepared, policy), EFFORTS.get(policy.name, 1.0))


def _peer(rival: peers.Rival) -> Callable[[Job], Evaluate]:
    return lambda job: evaluated_reactive(
        job, partial(_rule_of, rival, job), first=lambda budget: budget / 4, exponent=1.0
    )


def _rule_of(rival: peers.Rival, job: Job, factor: float) -> Reactive:
    rule = rival.gap if callable(rival.gap) else _every(rival.gap)
    return peers.Peer(rule, job.fold.trace, factor, rival.longest)


def _every(hours: float) -> peers.Rule:
    return lambda positions, sources, now: np.full(now.size, hours)


def at_own_cost(fold: Fold) -> dict[str, Statistics]:
    """What users of other readers get, by the readers' names, with the checks that these readers make by default."""
    job = Job(fold)
    phases = job.random().random(len(fold.trace))
    found = {}
    for rival in (*peers.FIXED, *peers.RIVALS.values()):
        made = simulate_reactive(
            fold.test, _rule_of(rival, job, 1.0), fold.start, fold.end, least_gap=LEAST_GAP, phases=phases
        )
        found[rival.name] = Statistics.of(made, fold)
    return found


def _clairvoyant(job: Job) -> Evaluate:
    """No floor and no least gap: a bound for every plan with as many retrievals."""
    test = job.fold.test

    def outcome(price: float) -> Outcome:
        return simulate_times(test, [clairvoyant_times(times, price) for times in test.parts])

    def evaluate(budget: float) -> Outcome:
        retrievals = job.retrievals(budget)
        return matching(outcome, retrievals, first=4 / budget**2, exponent=-0.5, tolerance=STATIC_TOLERANCE)[1]

    return evaluate


def _ours_capped(job: ContenderJob) -> Evaluate:
    lessons = Lessons.learnt(job.fold.trace, job.fold.start, job.fold.end, seed=job.seed)
    return priced(replace(job, fold=replace(job.fold, longest=job.cap)), lessons)


class _UnreactivePlan(PricedPlan):
    """A plan that knows all rates, so that new postings change no activity."""

    def _observed(self, outlook: Outlook, sources: IntArray, previous: FloatArray) -> FloatArray:
        return outlook.factor


def _with_known_rates(job: Job, lessons: Lessons) -> Evaluate:
    fold, ones = job.fold, np.ones(len(job.fold.trace))

    def plan(price: float) -> Reactive:
        return _UnreactivePlan(fold.trace, lessons, price, ones, fold.least, fold.longest)

    return evaluated_reactive(job, plan, first=partial(first_price, lessons, ones), exponent=-0.5)


def _hindsight(job: Job) -> Evaluate:
    """The same planner with the profiles of the tested weeks themselves; retrievals change nothing about them."""
    fold = job.fold
    priors = learn_priors(fold.test, fold.end, random=job.random())
    profiles = learn_profiles(fold.test, fold.end, priors)
    lessons = Lessons([five_minute_rates(profiles.hourly, profiles.minutes)], fold.start)
    return _with_known_rates(job, lessons)


def _oracle(job: ContenderJob) -> Evaluate:
    """The same planner with the rates from which the postings were drawn."""
    lessons = Lessons([np.array([profile.rates for profile in job.fold.profiles])], job.fold.start)
    return _with_known_rates(job, lessons)


PAPERS = (
    *("scheduling", "allocation", "combined", "exhaustive", "refinement"),  # Sia, Cho and Cho
    *("cgm_age", "cgm_freshness"),  # Cho and Garcia-Molina
    "cam",  # Pandey, Ramamritham and Chakrabarti
)
# Of the portal's policies, where they take more than most.
EFFORTS = {
    **{"ours": 800.0, "exhaustive": 400.0, "refinement": 400.0},
    **{"cam": 20.0, "combined": 12.0, "scheduling": 4.0, "cgm_age": 2.0, "cgm_freshness": 2.0},
}

OTHERS: Mapping[str, Contender] = {
    **{name: Contender(_peer(rival), effort=30.0) for name, rival in peers.RIVALS.items()},
    "ours_capped": Contender(_ours_capped, effort=800.0),
    "hindsight": Contender(_hindsight, effort=600.0),
    "oracle": Contender(_oracle, effort=600.0, needs_truth=True),
    "clairvoyant": Contender(_clairvoyant, effort=25.0),
}
