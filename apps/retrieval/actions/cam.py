"""CAM's probabilities of updates in each hour of a source's week.

A source's profile gives them; for a page whose changes only fetches show, the log of its retrievals is tracked, too.
Timetables are computed each night, after profiles were learnt, so each night the latest observations are fed back.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from apps.database.statements import query
from apps.retrieval.actions.learning import Learner, chunks
from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import WEEK, hours_of
from apps.retrieval.algorithms.cam.epochs import REMEMBERED
from apps.retrieval.algorithms.cam.tracking import Observations, track
from apps.retrieval.algorithms.cam.weeks import Weeks, weeks
from apps.retrieval.algorithms.weekly_profiles.packing import PackedProfile, expectations
from apps.retrieval.models import WeeklyProfile
from apps.retrieval.planner.due_times import OBSERVING

CHUNK = 1_000  # sources tracked at once
GOLDEN = 0.6180339887498949  # multiples of it are spread evenly
SUREST = 0.98  # upper limit of a profile's probability: observations could not correct certainty

_OBSERVATIONS = """
SELECT source_id, extract(epoch FROM fetched_at)::float8 AS epoch, new + edited > 0 AS changed
FROM retrieval_retrieval
WHERE source_id = ANY(%(ids)s) AND outcome = ANY(%(observing)s) AND fetched_at > %(since)s AND fetched_at <= %(now)s
ORDER BY source_id, fetched_at
"""


def tracked_weeks(learners: Sequence[Learner], pages: Sequence[bool], now: datetime) -> tuple[Weeks, FloatArray]:
    """The update instants of each source, and how much there is to learn of it.

    `learners` are sources with a profile, ordered by clock rate; `pages` are those whose changes only fetches show.
    """
    is_page = {learner.source_id for learner, page in zip(learners, pages, strict=True) if page}
    parts = [_tracked(chunk, is_page, now) for chunk in chunks(learners, CHUNK)]
    known = Weeks(
        np.concatenate([part.probabilities for part, _ in parts]), np.concatenate([part.shifts for part, _ in parts])
    )
    return known, np.concatenate([doubt for _, doubt in parts])


def _tracked(chunk: Sequence[Learner], is_page: set[int], now: datetime) -> tuple[Weeks, FloatArray]:
    """Update instants of sources of one clock rate, and how much there is to learn of each."""
    ids = [learner.source_id for learner in chunk]
    known = _from_profiles(ids)
    rho, doubt = known.probabilities, known.doubt
    rows = [row for row, source_id in enumerate(ids) if source_id in is_page]
    if rows:
        clock_rate = chunk[0].clock_rate
        observations = _observations([ids[row] for row in rows], known.shifts[rows], clock_rate, now)
        # Their grids are shifted by less than an hour, which is negligible beside the half-life of observations.
        today = float(hours_of(now.timestamp(), clock_rate))
        tracked = track(observations, np.clip(rho[rows], 1 - SUREST, SUREST), period=WEEK, now=today)
        rho[rows], doubt[rows] = tracked.probability, tracked.doubt
    return known, doubt


def _from_profiles(ids: Sequence[int]) -> Weeks:
    profiles = {
        profile.pk: (PackedProfile(bytes(profile.hourly), bytes(profile.minutes)), profile.utc_offset)
        for profile in WeeklyProfile.objects.filter(pk__in=ids).only("hourly", "minutes", "utc_offset")
    }
    rates = np.diff(expectations([profiles[source_id][0] for source_id in ids]), axis=1)
    return weeks(rates, [profiles[source_id][1] for source_id in ids], np.array(ids) * GOLDEN % 1)


def _observations(ids: Sequence[int], shifts: FloatArray, clock_rate: float, now: datetime) -> Observations:
    """The intervals between fetches of pages, each on its page's own grid; the first fetch of a page ends none."""
    since = now - timedelta(hours=REMEMBERED * WEEK / clock_rate)
    rows = query(_OBSERVATIONS, {"ids": list(ids), "observing": list(OBSERVING), "since": since, "now": now})
    place = {source_id: row for row, source_id in enumerate(ids)}
    page = np.array([place[row.source_id] for row in rows], dtype=np.int64)
    hours = hours_of(np.array([row.epoch for row in rows], dtype=np.float64), clock_rate) - shifts[page]
    follows = page[1:] == page[:-1]
    changed = np.array([row.changed for row in rows], dtype=bool)
    return Observations(page[1:][follows], hours[:-1][follows], hours[1:][follows], changed[1:][follows])
