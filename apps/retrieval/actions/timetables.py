"""Timetables by the papers' policies, for an admin who prefers one of them to our own plan."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db import transaction

from apps.database.statements import query, query_as
from apps.retrieval import queries
from apps.retrieval.actions.learning import Learner, chunks, read
from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import DAY, WEEK, hours_of
from apps.retrieval.algorithms.cam.tracking import KEPT_EPOCHS, Observations, track
from apps.retrieval.algorithms.cam.weeks import Weeks, weeks
from apps.retrieval.algorithms.sia.learning import Learned, daily_patterns, learn
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.learning import PackedProfile, expectations
from apps.retrieval.models import Plan, WeeklyProfile
from apps.retrieval.planner.due_times import OBSERVING
from apps.retrieval.planner.state import COST, TABLES, WORTH, parameters
from apps.retrieval.policies import SEED, Fleet, Policy, policy_of
from apps.sources.kinds import kind_of

TRACKED_AT_ONCE = 1_000  # sources tracked at once
GOLDEN = 0.6180339887498949  # multiples of it are spread evenly
MAX_PROBABILITY = 0.98  # upper limit of a profile's probability: observations could not correct certainty

_OBSERVATIONS = """
SELECT source_id, extract(epoch FROM fetched_at)::float8 AS epoch, new + edited > 0 AS changed
FROM retrieval_retrieval
WHERE source_id = ANY(%(ids)s) AND outcome = ANY(%(observing)s) AND fetched_at > %(since)s AND fetched_at <= %(now)s
ORDER BY source_id, fetched_at
"""


def tracked_weeks(learners: Sequence[Learner], pages: Sequence[bool], now: datetime) -> tuple[Weeks, FloatArray]:
    """CAM's probabilities of updates in each hour of each source's week, and how much there is to learn of it.

    A source's profile gives them; for a page whose changes only fetches show, the log of its retrievals is tracked,
    too. Timetables are computed each night, after profiles were learnt, so the latest observations are fed back then.

    `learners` are sources with a profile, ordered by clock rate; `pages` are those whose changes only fetches show.
    """
    is_page = {learner.source_id for learner, page in zip(learners, pages, strict=True) if page}
    parts = [_tracked(chunk, is_page, now) for chunk in chunks(learners, TRACKED_AT_ONCE)]
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
        tracked = track(observations, np.clip(rho[rows], 1 - MAX_PROBABILITY, MAX_PROBABILITY), period=WEEK, now=today)
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
    since = now - timedelta(hours=KEPT_EPOCHS * WEEK / clock_rate)
    rows = query(_OBSERVATIONS, {"ids": list(ids), "observing": list(OBSERVING), "since": since, "now": now})
    place = {source_id: row for row, source_id in enumerate(ids)}
    page = np.array([place[row.source_id] for row in rows], dtype=np.int64)
    hours = hours_of(np.array([row.epoch for row in rows], dtype=np.float64), clock_rate) - shifts[page]
    follows = page[1:] == page[:-1]
    changed = np.array([row.changed for row in rows], dtype=bool)
    return Observations(page[1:][follows], hours[:-1][follows], hours[1:][follows], changed[1:][follows])


SAMPLE = 4_000  # sources that patterns are found among
CHUNK = 2_000
SHORTEST = 1 / 12  # h between two times of a timetable on average
AS_OFTEN = 0.01  # share by which a source's retrievals may differ before its timetable does


class _Known(NamedTuple):
    """A source whose profile is known."""

    source_id: int
    clock_rate: float
    worth: float
    cost: float  # of a retrieval
    mass: float  # its share of the budget is proportional to it under our own plan
    min_gap: float  # s
    kind: str


def make_timetables(plan: Plan, *, now: datetime, replace_all: bool = True) -> list[int]:
    """Give every source with a profile its timetable, if the policy has any; returns those with a new one.

    Sources with push keep the one that they have, for the time after. Unless all are replaced, so do those that are
    to be retrieved as often as before, within 1 %: a new phase would only make their next gap a random one.
    """
    policy, of_pages = (policy_of(plan.policy, plan.pages_policy, pages=pages) for pages in (False, True))
    known = [] if policy.reacts and of_pages.reacts else _known(now)
    if not known:
        return []
    apart = of_pages is not policy
    pages = [source for source in known if apart and kind_of(source.kind).is_page]
    others = [source for source in known if not (apart and kind_of(source.kind).is_page)]
    announced = queries.announced(now)
    clock_rates = max(queries.wanted().clock_rates - announced.clock_rates, 1e-9)
    per_day = queries.budget_left(plan, announced) * DAY / clock_rates
    # Pages have the share of the budget that they would have under our own plan.
    share = _mass(pages) / max(_mass(known), 1e-300)
    made: list[int] = []
    for each, sources, part in ((of_pages, pages, share), (policy, others, 1 - share)):
        if sources and not each.reacts:
            count = per_day * part * _clock_rates(known) / _clock_rates(sources)
            made += _make(each, sources, count, plan, now, replace_all=replace_all)
    return made


def _mass(sources: Sequence[_Known]) -> float:
    return sum(source.mass for source in sources)


def _clock_rates(sources: Sequence[_Known]) -> float:
    return sum(source.clock_rate for source in sources)


def _make(
    policy: Policy, sources: Sequence[_Known], per_day: float, plan: Plan, now: datetime, *, replace_all: bool
) -> list[int]:
    """Write the timetables of some sources that take `per_day`, on average over these; returns the changed ones."""
    assert policy.timetables is not None
    learners = [Learner(source.source_id, source.clock_rate) for source in sources]
    min_gaps = np.array([source.min_gap for source in sources]) / 3600
    worths, costs = np.array([(source.worth, source.cost) for source in sources]).T
    fleet = Fleet(
        worths=worths / costs,
        min_gaps=min_gaps,
        least=DAY / plan.longest_gap,
        most=np.maximum(DAY / np.maximum(min_gaps, SHORTEST), DAY / plan.longest_gap),
        longest=plan.longest_gap,
        learned=lambda: _learned(learners, plan.learning_days, now),
        weeks=lambda: tracked_weeks(learners, [kind_of(source.kind).is_page for source in sources], now),
    )
    count = per_day / float(costs.mean())
    timetables, chances = policy.timetables(fleet, count)
    if (costs != costs[0]).any():  # cheap sources are retrieved more often, which lowers the mean
        count *= per_day / float((costs * [timetable.per_day for timetable in timetables]).mean())
        timetables, chances = policy.timetables(fleet, count)
    timetables = [
        timetable if values.size else timetable.spaced(gap, plan.longest_gap)  # probabilities belong to exact times
        for timetable, values, gap in zip(timetables, chances, min_gaps.tolist(), strict=True)
    ]
    written: list[int] = []
    for start in range(0, len(learners), CHUNK):
        part = slice(start, start + CHUNK)
        written += _write(
            [each.source_id for each in learners[part]], timetables[part], chances[part], replace_all=replace_all
        )
    return written


def _known(now: datetime) -> list[_Known]:
    """All sources to be planned, ordered by clock rate."""
    return query_as(
        _Known,
        f"""SELECT id AS source_id, clock_rate, worth, cost, root_mass * sqrt(worth * cost) * clock_rate AS mass,
            min_gap, kind
        FROM (
            SELECT source.id, source.clock_rate, {WORTH} AS worth, ({COST})::float8 AS cost, profile.root_mass,
                coalesce(source.min_gap, %(min_gap)s)::float8 AS min_gap, source.kind
            FROM {TABLES} WHERE {queries.TO_BE_PLANNED}) known
        ORDER BY clock_rate, id""",
        parameters(now=now),
    )


def _learned(learners: Sequence[Learner], days: int, now: datetime) -> Learned:
    """Rates and patterns of all sources from their last days; in a large fleet patterns come from a sample."""
    today = float(hours_of(now.timestamp()))
    parts = [part for chunk in chunks(learners, CHUNK) for part in _on_one_axis(chunk, today, days, now)]
    history = Trace.of([""] * len(learners), parts)
    random = np.random.default_rng(SEED)
    sample = history
    if len(history) > SAMPLE:
        sample = history.select(np.sort(random.choice(len(history), SAMPLE, replace=False)).tolist())
    # Times were moved by whole days, so the oldest lie up to a day before the window.
    learned = learn(sample, today, random=random, window=(days + 1) * DAY)
    shares = daily_patterns(history)
    centroids = learned.centroids[:-1]
    # The squared distance, without the term that is the same for all centroids.
    distances = (centroids**2).sum(axis=1) - 2 * shares @ centroids.T
    silent = len(centroids)
    nearest = distances.argmin(axis=1) if silent else np.zeros(len(history), dtype=np.int64)
    return replace(
        learned, rates=history.counts / (days * DAY), membership=np.where(history.counts > 0, nearest, silent)
    )


def _on_one_axis(chunk: Sequence[Learner], today: float, days: int, now: datetime) -> list[FloatArray]:
    """Each source's times, UTC, moved by whole days so that those of all clock rates end in the day before today."""
    known = read(chunk, days / 7, now)
    moved = np.floor((today - float(hours_of(now.timestamp(), chunk[0].clock_rate))) / DAY) * DAY
    return [times + moved for times in known.utc_parts]


@transaction.atomic
def _write(
    source_ids: Sequence[int], timetables: Sequence[Timetable], chances: Sequence[FloatArray], *, replace_all: bool
) -> list[int]:
    """Write timetables in ascending order, and the probability of each due time if the policy has it.

    Returns the sources that have new ones: all, if they are replaced.
    """
    rows = query(
        """
        UPDATE retrieval_weeklyprofile profile
        SET timetable = made.timetable, period = made.period, chances = made.chances
        FROM unnest(%s::bigint[], %s::bytea[], %s::float8[], %s::bytea[])
            made(source_id, timetable, period, chances)
        WHERE profile.source_id = made.source_id AND (%s OR profile.timetable = ''
            OR abs(length(profile.timetable) * made.period / length(made.timetable) / nullif(profile.period, 0) - 1)
                > %s)
        RETURNING made.source_id
        """,
        [
            list(source_ids),
            [np.sort(timetable.times).astype("<f8").tobytes() for timetable in timetables],
            [timetable.period for timetable in timetables],
            [values.astype("<f4").tobytes() for values in chances],
            replace_all,
            AS_OFTEN,
        ],
    )
    return [row.source_id for row in rows]
