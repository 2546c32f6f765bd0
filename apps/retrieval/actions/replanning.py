"""Move the due times of many sources at once, after the plan, its price or weights of sources have changed."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.database.statements import execute, query_as
from apps.retrieval import queries
from apps.retrieval.actions.plan import PLANNING, alone, current_plan, update_price
from apps.retrieval.actions.planning import wake_beat
from apps.retrieval.actions.timetables import make_timetables
from apps.retrieval.algorithms.politeness import Limits, next_due_time
from apps.retrieval.http.results import numbers_in
from apps.retrieval.models import Plan
from apps.retrieval.planner.due_times import Terms, replanned, terms_of
from apps.retrieval.planner.state import COLUMNS, TABLES, ScheduleState, parameters
from apps.sources.formats.feed import UpdateHints

CHUNK = 2_000  # sources of one transaction
ROUNDS = 5  # of retries of locked rows
PAUSE = 0.2  # s between rounds
SPREAD = timedelta(minutes=5)  # of the sources' own time, over which sources overdue by a new plan are spread
GOLDEN = 0.6180339887498949  # multiples of it are spread evenly

_ROWS = f"""
SELECT schedule.due_at, schedule.skip_hours, schedule.skip_days, {COLUMNS} FROM {TABLES}
WHERE source.id = ANY(%(ids)s) AND {queries.MOVABLE}
ORDER BY source.id FOR UPDATE OF schedule SKIP LOCKED
"""
_MOVE = """
UPDATE retrieval_schedule schedule
SET due_at = planned.due_at, reason = planned.reason, worth = planned.worth, ahead = '{}'
FROM unnest(%s::bigint[], %s::timestamptz[], %s::text[], %s::float8[]) planned(source_id, due_at, reason, worth)
WHERE schedule.source_id = planned.source_id
"""


@dataclass(frozen=True, slots=True)
class _Movable:
    """A row of `_ROWS`."""

    source: ScheduleState
    due_at: datetime
    hints: UpdateHints

    @classmethod
    def of(cls, *, due_at: datetime, skip_hours: int, skip_days: int, **columns: Any) -> "_Movable":
        hints = UpdateHints(skip_hours=numbers_in(skip_hours), skip_days=numbers_in(skip_days))
        return cls(ScheduleState.of(**columns), due_at, hints)


def replan_changed(*, now: datetime) -> int:
    """Plan again after a change: all sources if the plan changed, or those whose weights did.

    Returns how many were planned; 0 also if another process is planning.
    """
    with alone(PLANNING) as granted:
        if not granted:
            return 0
        plan = current_plan()
        is_changed = plan.revision != plan.planned_revision
        if not is_changed and plan.price is not None:
            changed = queries.worth_changed()
            return _replan(changed, plan, now) if changed else 0
        if update_price(now=now) is None and not is_changed:
            return 0  # no profile is known yet
        make_timetables(plan, now=now)
        planned = _replan(queries.movable(), current_plan(), now)
        Plan.objects.filter(pk=1).update(planned_revision=plan.revision)
        return planned


def replan(source_ids: Collection[int] | None = None, *, now: datetime) -> int:
    """Plan waiting sources again, all by default; returns how many could be planned."""
    return _replan(queries.movable(source_ids), current_plan(), now)


def _replan(source_ids: Sequence[int], plan: Plan, now: datetime) -> int:
    if plan.price is None:
        return 0
    terms = terms_of(plan, plan.price)
    planned: set[int] = set()
    missed = list(source_ids)
    for attempt in range(ROUNDS):
        if attempt:
            time.sleep(PAUSE)
        for start in range(0, len(missed), CHUNK):
            planned |= _replan_chunk(missed[start : start + CHUNK], terms, now)
        # A row locked by another transaction may follow the former price; claimed ones are not movable any more.
        missed = [source_id for source_id in queries.movable(missed) if source_id not in planned]
        if not missed:
            break
    return len(planned)


@transaction.atomic
def _replan_chunk(source_ids: Sequence[int], terms: Terms, now: datetime) -> set[int]:
    rows = query_as(_Movable.of, _ROWS, parameters(ids=list(source_ids), **queries.MOVABLE_VALUES))
    if not rows:
        return set()
    sources = [row.source for row in rows]
    optimal = replanned(sources, terms, now=now)
    due = [_allowed(row, best, now) for row, (best, _) in zip(rows, optimal, strict=True)]
    ids = [source.source_id for source in sources]
    execute(_MOVE, [ids, due, [reason for _, reason in optimal], [source.worth for source in sources]])
    wake_beat(due, now)
    return set(ids)


def _allowed(row: _Movable, best: datetime, now: datetime) -> datetime:
    """The optimal due time, or the first later one that politeness and the feed's hints allow."""
    source = row.source
    if best <= now:
        # Overdue by the new plan. Many are at once, so they are spread; a second run moves none of them.
        best = min(row.due_at, now + SPREAD / source.clock_rate * (source.source_id * GOLDEN % 1))
    allowed = max(best, source.earliest_at or best)
    if not row.hints.skip_hours and not row.hints.skip_days:
        return allowed
    limits = Limits(min_gap=settings.RETRIEVAL_MIN_GAP).scaled(source.clock_rate)
    return next_due_time(allowed, allowed, row.hints, limits, since=now, jitter=0.0)
