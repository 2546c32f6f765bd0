"""Timetables by CAM: an epoch is a week, its update instants the ends of the hours of each source's own grid."""

import numpy as np

from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.cam.epochs import share_out
from apps.retrieval.algorithms.cam.weeks import HOURS, weeks
from apps.retrieval.algorithms.simulation.comparison import Evaluate, Job, evaluated_timetables
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.weekly_profiles.learning import SLOTS, five_minute_rates, learn_priors, learn_profiles
from apps.retrieval.policies import Fleet, Policy, Timetables, gettext_noop


def timetables(fleet: Fleet, per_day: float) -> Timetables:
    known, doubt = fleet.weeks()
    min_gaps, per_day = fleet.min_gaps, float(np.clip(per_day, fleet.least, fleet.most))
    chosen = share_out(
        fleet.worths,
        known.probabilities,
        doubt,
        round(per_day * len(min_gaps) * WEEK / 24),
        # A time too early after an unplanned retrieval is skipped, and the gap must still be kept.
        longest=np.maximum(np.maximum(fleet.longest - min_gaps, min_gaps), 1).astype(np.int64),
        most=np.maximum(np.floor(WEEK / np.maximum(min_gaps, 1e-9)), 1).clip(max=HOURS).astype(np.int64),
    )
    made = [known.timetable(source, slots) for source, slots in enumerate(chosen)]
    return [timetable for timetable, _ in made], [chances for _, chances in made]


def backtest(job: Job) -> Evaluate:
    """CAM with weeks for epochs; update instants are those of profiles learned once, before the test."""
    fold = job.fold
    known = fold.trace.window(-np.inf, fold.start)
    profiles = learn_profiles(known, fold.start, learn_priors(known, fold.start, random=job.random()))
    rates = five_minute_rates(profiles.hourly, profiles.minutes) / SLOTS
    found = weeks(rates, np.zeros(len(rates)), job.random().random(len(rates)))
    weights = np.ones(len(rates))

    def plan(per_day: float) -> list[Timetable]:
        tasks = round(per_day * len(rates) * 7)
        chosen = share_out(weights, found.probabilities, found.doubt, tasks, longest=HOURS)
        return [found.timetable(source, slots)[0] for source, slots in enumerate(chosen)]

    return evaluated_timetables(job, plan)


POLICY = Policy(
    label=gettext_noop("CAM (Pandey, Ramamritham, Chakrabarti): at the times of most likely changes"),
    timetables=timetables,
    backtest=backtest,
    effort=20.0,
    for_pages=True,
)
