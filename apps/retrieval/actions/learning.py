"""Learn when sources publish: all of them each night, and a new one after its first successful retrieval."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Q

from apps.database.advisory_locks import try_advisory_lock
from apps.database.statements import execute
from apps.retrieval import queries
from apps.retrieval.actions import histories
from apps.retrieval.actions.histories import Histories
from apps.retrieval.actions.plan import LEARNING, current_plan, priors_of
from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import WEEK, hours_of
from apps.retrieval.algorithms.planner.activity import PRIOR
from apps.retrieval.algorithms.planner.price import root_mass
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles import learning
from apps.retrieval.algorithms.weekly_profiles.learning import (
    Priors,
    WeeklyProfiles,
    five_minute_rates,
    pack_hourly,
    pack_minutes,
)
from apps.retrieval.models import Plan, SourceChange

CHUNK = 500  # sources learnt and written at once
SEED = 20  # of the sample that priors are fitted on
RELEARN = 24.0  # h of the sources' own time after which profiles are learnt again


class Learner(NamedTuple):
    source_id: int
    clock_rate: float


def learn_profiles(*, now: datetime) -> int:
    """Learn the profiles of all checked and observed sources, and have all due times planned again.

    The priors are fitted first, on a sample. Returns the number of profiles learnt; 0 if another process is learning.
    """
    with try_advisory_lock(LEARNING) as granted:
        learners = _learners() if granted else []
        if not learners:
            return 0
        priors = _fit_priors(learners, now)
        for chunk in chunks(learners):
            _learn(chunk, priors, now)
        # Present due times follow the former profiles.
        Plan.objects.filter(pk=current_plan().pk).update(priors=priors.to_json(), learned_at=now, planned_revision=0)
        return len(learners)


def learn_if_due(*, now: datetime) -> int:
    """Learn profiles if that was never done, or not within a day of the sources' own time."""
    learned_at = current_plan().learned_at
    if learned_at is not None:
        hours = (now - learned_at).total_seconds() / 3600 * queries.wanted().mean_clock_rate
        if hours < RELEARN:
            return 0
    return learn_profiles(now=now)


def learn_first_profiles(learners: Sequence[Learner], *, now: datetime) -> None:
    """Learn the profiles of new sources from their first postings and the priors; the plan takes note of them."""
    priors = priors_of(current_plan())
    for chunk in chunks(sorted(learners, key=lambda each: (each.clock_rate, each.source_id))):
        _learn(chunk, priors, now)
    SourceChange.objects.bulk_create(SourceChange(source_id=learner.source_id) for learner in learners)


def _learners() -> list[Learner]:
    """All sources with an observation, ordered by clock rate."""
    known = queries.to_check().filter(~Q(schedule__observed_at=None))
    return [
        Learner(id, clock_rate) for id, clock_rate in known.order_by("clock_rate", "pk").values_list("pk", "clock_rate")
    ]


def chunks(learners: Sequence[Learner], size: int = CHUNK) -> Iterator[Sequence[Learner]]:
    """Split sources, ordered by clock rate, into pieces of one clock rate each."""
    for _, alike in groupby(learners, key=lambda each: each.clock_rate):
        rows = list(alike)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def read(chunk: Sequence[Learner], weeks: float, now: datetime) -> Histories:
    """The publication times of the sources of a chunk."""
    return histories.read([each.source_id for each in chunk], clock_rate=chunk[0].clock_rate, weeks=weeks, now=now)


def _fit_priors(learners: Sequence[Learner], now: datetime) -> Priors:
    """Fit the priors to a sample of sources, or to all if they are few."""
    random = np.random.default_rng(SEED)
    if len(learners) > learning.SAMPLE:
        chosen = np.sort(random.choice(len(learners), learning.SAMPLE, replace=False))
        learners = [learners[i] for i in chosen.tolist()]
    today = float(hours_of(now.timestamp()))
    parts = [part for chunk in chunks(learners) for part in _on_one_axis(chunk, today, now)]
    return learning.learn_priors(Trace.of([""] * len(parts), parts), today, random=random)


def _on_one_axis(chunk: Sequence[Learner], today: float, now: datetime) -> list[FloatArray]:
    """Each source's times moved by whole weeks, so that those of all clock rates end within the week before today."""
    local_now = float(hours_of(now.timestamp(), chunk[0].clock_rate))
    moved = []
    for offset, _, trace in read(chunk, learning.WEEKS, now).alike():
        weeks = np.floor((today - (local_now + offset / 60)) / WEEK)
        moved += [part + weeks * WEEK for part in trace.parts]
    return moved


def _learn(chunk: Sequence[Learner], priors: Priors, now: datetime) -> None:
    known = read(chunk, learning.WEEKS, now)
    local_now = float(hours_of(now.timestamp(), chunk[0].clock_rate))
    rows: list[tuple[Any, ...]] = []
    for offset, positions, trace in known.alike():
        profiles = learning.learn_profiles(trace, local_now + offset / 60, priors)
        rows += _rows(known.source_ids[positions].tolist(), profiles, offset)
    _write(sorted(rows), now)


def _rows(source_ids: Sequence[int], profiles: WeeklyProfiles, offset: int) -> list[tuple[Any, ...]]:
    masses = root_mass(five_minute_rates(profiles.hourly, profiles.minutes), WEEK)
    weekly = profiles.hourly.sum(axis=1)
    return [
        (source_id, pack_hourly(hourly), pack_minutes(minutes), week, mass, offset)
        for source_id, hourly, minutes, week, mass in zip(
            source_ids, profiles.hourly, profiles.minutes, weekly.tolist(), masses.tolist(), strict=True
        )
    ]


_WRITE = """
INSERT INTO retrieval_weeklyprofile
    (source_id, hourly, minutes, weekly, root_mass, utc_offset, timetable, period, chances, learned_at)
SELECT learnt.*, '', 0, '', %s
FROM unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::float8[], %s::float8[], %s::int2[])
    learnt(source_id, hourly, minutes, weekly, root_mass, utc_offset)
JOIN sources_source source ON source.id = learnt.source_id
ON CONFLICT (source_id) DO UPDATE SET hourly = excluded.hourly, minutes = excluded.minutes, weekly = excluded.weekly,
    root_mass = excluded.root_mass, utc_offset = excluded.utc_offset, learned_at = excluded.learned_at
"""


@transaction.atomic
def _write(rows: Sequence[tuple[Any, ...]], now: datetime) -> None:
    """Write profiles, and reset the activity, which was measured against former ones."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    # Schedules are locked before profiles, in the same order as when results are stored.
    execute(
        """
        UPDATE retrieval_schedule schedule SET activity_seen = %s, activity_expected = %s
        FROM (SELECT source_id FROM retrieval_schedule WHERE source_id = ANY(%s) ORDER BY 1 FOR UPDATE) locked
        WHERE schedule.source_id = locked.source_id
        """,
        [PRIOR, PRIOR, columns[0]],
    )
    execute(_WRITE, [now, *columns])
