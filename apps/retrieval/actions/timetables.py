"""Timetables by the papers' policies, for an admin who prefers one of them to our own plan."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from numpy.typing import NDArray

from apps.retrieval import queries
from apps.retrieval.actions.learning import Learner, chunks, read
from apps.retrieval.algorithms.calendar import DAY, hours_of
from apps.retrieval.algorithms.cgm import cgm_age, cgm_freshness
from apps.retrieval.algorithms.sia.learning import WINDOW, Learned, daily_patterns, learn
from apps.retrieval.algorithms.sia.policies import (
    Policy,
    combined,
    resource_allocation,
    retrieval_scheduling,
    uniform,
)
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.models import Plan
from apps.retrieval.remembered import TABLES, WORTH

FloatArray = NDArray[np.float64]

SAMPLE = 4_000  # sources that patterns are found among
CHUNK = 2_000
SEED = 12
WEEK_WINDOW = WINDOW / (7 * DAY)

POLICIES: dict[str, Policy] = {
    Plan.Policy.UNIFORM: uniform,
    Plan.Policy.SCHEDULING: retrieval_scheduling,
    Plan.Policy.ALLOCATION: resource_allocation,
    Plan.Policy.COMBINED: combined,
    Plan.Policy.CGM_AGE: cgm_age,
    Plan.Policy.CGM_FRESHNESS: cgm_freshness,
}


def make_timetables(plan: Plan, *, now: datetime) -> int:
    """Give every source whose habit is known the timetable of the plan's policy; returns how many there are.

    Those whose publishers tell us of news by themselves keep the one that they have, for the time after.
    """
    learners, worths = _learners(now)
    if not learners:
        return 0
    announced = queries.announced(now)
    paces = max(queries.wanted().paces - announced.paces, 1e-9)
    least_gap = max(settings.RETRIEVAL_MIN_GAP / 3600, 1 / 12)
    timetables = POLICIES[plan.policy](
        _learned(learners, now),
        queries.budget_left(plan, announced) * DAY / paces,
        random=np.random.default_rng(SEED),
        weights=worths,
        least=DAY / plan.longest_gap,
        most=max(DAY / least_gap, DAY / plan.longest_gap),
    )
    for start in range(0, len(learners), CHUNK):
        part = slice(start, start + CHUNK)
        _write([each.source_id for each in learners[part]], timetables[part])
    return len(learners)


def _learners(now: datetime) -> tuple[list[Learner], FloatArray]:
    """Sources of one pace beside each other, and what each is worth."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT source.id, source.pace, {WORTH} FROM {TABLES}
            WHERE {queries.TO_BE_PLANNED} ORDER BY source.pace, source.id""",
            {"now": now},
        )
        rows = cursor.fetchall()
    return [Learner(source_id, pace) for source_id, pace, _ in rows], np.array([worth for _, _, worth in rows])


def _learned(learners: Sequence[Learner], now: datetime) -> Learned:
    """Rates and patterns of all sources from their last two weeks; in a large fleet patterns come from a sample."""
    today = float(hours_of(now.timestamp()))
    history = Trace.of(
        [""] * len(learners), [part for chunk in chunks(learners, CHUNK) for part in _on_one_axis(chunk, today, now)]
    )
    random = np.random.default_rng(SEED)
    sample = history
    if len(history) > SAMPLE:
        sample = history.select(np.sort(random.choice(len(history), SAMPLE, replace=False)).tolist())
    # Times were moved by whole days, so the oldest lie up to a day before the window.
    learned = learn(sample, today, random=random, window=WINDOW + DAY)
    shares = daily_patterns(history)
    centroids = learned.centroids[:-1]
    # The squared distance but for the term that is the same for all centroids.
    distances = (centroids**2).sum(axis=1) - 2 * shares @ centroids.T
    silent = len(centroids)
    nearest = distances.argmin(axis=1) if silent else np.zeros(len(history), dtype=np.int64)
    return replace(learned, rates=history.counts / WINDOW, membership=np.where(history.counts > 0, nearest, silent))


def _on_one_axis(chunk: Sequence[Learner], today: float, now: datetime) -> list[FloatArray]:
    """Each source's times, UTC, moved by whole days so that those of all paces end within the day before today."""
    known = read(chunk, WEEK_WINDOW, now)
    days = np.floor((today - float(hours_of(now.timestamp(), chunk[0].pace))) / DAY)
    utc = known.utc_times + days * DAY
    order = np.argsort(known.owners, kind="stable")
    return np.split(utc[order], np.cumsum(np.bincount(known.owners, minlength=len(known.source_ids)))[:-1])


@transaction.atomic
def _write(source_ids: Sequence[int], timetables: Sequence[Timetable]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE retrieval_habit habit SET timetable = made.instants, period = made.period
            FROM unnest(%s::bigint[], %s::bytea[], %s::float8[]) made(source_id, instants, period)
            WHERE habit.source_id = made.source_id
            """,
            [
                list(source_ids),
                [np.sort(timetable.instants).astype("<f8").tobytes() for timetable in timetables],
                [timetable.period for timetable in timetables],
            ],
        )
