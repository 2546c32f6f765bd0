"""Timetables by CAM: an epoch is a week, its update instants the ends of the hours of each source's own grid."""

import numpy as np

from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.cam.allocation import share_out
from apps.retrieval.algorithms.cam.weeks import HOURS
from apps.retrieval.policies import Fleet, Policy, Timetables, gettext_noop


def timetables(fleet: Fleet, per_day: float) -> Timetables:
    known, doubt = fleet.weeks()
    min_gaps, per_day = fleet.min_gaps, float(np.clip(per_day, fleet.least, np.asarray(fleet.most, float).mean()))
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


POLICY = Policy(
    label=gettext_noop("CAM (Pandey, Ramamritham, Chakrabarti): at the times of most likely changes"),
    timetables=timetables,
    for_pages=True,
)
