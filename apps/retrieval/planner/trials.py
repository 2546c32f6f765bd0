"""Policies as the portal runs them, tested on recorded postings."""

from functools import cache

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.cam.weeks import Weeks, weeks
from apps.retrieval.algorithms.sia.learning import learn
from apps.retrieval.algorithms.simulation.comparison import Evaluate, Job, evaluated_timetables, priced
from apps.retrieval.algorithms.simulation.priced_plan import Lessons
from apps.retrieval.algorithms.weekly_profiles.learning import SLOTS, five_minute_rates, learn_priors, learn_profiles
from apps.retrieval.policies import Fleet, Policy


def prepared(policy: Policy, job: Job) -> Evaluate:
    """Learn what a policy may know before the test; ours learns each night of it as well."""
    fold, make = job.fold, policy.timetables
    if make is None:
        return priced(job, Lessons.learnt(fold.trace, fold.start, fold.end, seed=job.seed))
    weights, least = (np.broadcast_to(value, len(fold.trace)) for value in (fold.weights, fold.least))
    fleet = Fleet(
        worths=weights,
        min_gaps=least,
        least=DAY / fold.longest,
        most=DAY / float(least.min()),
        longest=fold.longest,
        learned=cache(lambda: learn(fold.learning, fold.start, random=job.random())),
        weeks=cache(lambda: _weeks_before(job)),
        seed=job.seed,
    )
    return evaluated_timetables(job, lambda per_day: make(fleet, per_day)[0])


def _weeks_before(job: Job) -> tuple[Weeks, FloatArray]:
    """CAM's chances of updates, by the profiles of all that was posted before the test."""
    fold = job.fold
    known = fold.trace.window(-np.inf, fold.start)
    profiles = learn_profiles(known, fold.start, learn_priors(known, fold.start, random=job.random()))
    rates = five_minute_rates(profiles.hourly, profiles.minutes) / SLOTS
    found = weeks(rates, np.zeros(len(rates)), job.random().random(len(rates)))
    return found, found.doubt
