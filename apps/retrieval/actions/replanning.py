"""Move the due times of many sources at once, after the plan, its price or weights of sources have changed."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.database.advisory_locks import try_advisory_lock
from apps.database.statements import execute, query, query_as
from apps.retrieval import queries
from apps.retrieval.actions.plan import PLANNING, current_plan, draw_curve, rehearse_price, scale_price, settled
from apps.retrieval.actions.planning import adopt_sources, wake_beat
from apps.retrieval.actions.timetables import GOLDEN, make_timetables
from apps.retrieval.algorithms.politeness import Limits, next_due_time
from apps.retrieval.http.results import numbers_in
from apps.retrieval.models import Plan
from apps.retrieval.planner.due_times import Terms, replanned, terms_of
from apps.retrieval.planner.state import COLUMNS, TABLES, ScheduleState, parameters
from apps.sources.formats.feed import UpdateHints

CHUNK = 2_000  # sources per transaction
CHANGES_AT_ONCE = 10_000
ROUNDS = 5  # of retries of locked rows
PAUSE = 0.2  # s between rounds
SPREAD = timedelta(minutes=5)  # of the sources' own time, over which sources overdue by a new plan are spread

_ROWS = f"""
SELECT schedule.due_at, schedule.skip_hours, schedule.skip_days, {COLUMNS} FROM {TABLES}
WHERE source.id = ANY(%(ids)s) AND {queries.MOVABLE}
ORDER BY source.id FOR UPDATE OF schedule SKIP LOCKED
"""
_MOVE = """
UPDATE retrieval_schedule schedule
SET due_at = planned.due_at, reason = planned.reason, worth = coalesce(planned.worth, schedule.worth), ahead = '{}'
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
    """Schedule or stop the sources that changed, and plan again those worth more or less; all if the plan changed.

    Due times move first, at a price in closed form; then it is rehearsed, and the what-if curve comes last.
    Returns how many were planned; 0 also if another process is planning.
    """
    with try_advisory_lock(PLANNING) as granted:
        if not granted:
            return 0
        noted = query("SELECT id, source_id FROM retrieval_sourcechange ORDER BY id LIMIT %s", [CHANGES_AT_ONCE])
        changed = {row.source_id for row in noted}
        if changed:
            adopt_sources(changed, now=now)
        planned = _replan_changed(changed, current_plan(), now)
        execute("DELETE FROM retrieval_sourcechange WHERE id = ANY(%s)", [[row.id for row in noted]])
        return planned


def _replan_changed(changed: Collection[int], former: Plan, now: datetime) -> int:
    replace_all = former.revision != former.planned_revision
    if not replace_all and not changed and former.price is not None:
        return 0
    plan = scale_price(now=now) or former  # there is no price yet
    terms = terms_of(plan, 1.0)
    timetabled = terms.by_timetable or terms.pages_by_timetable
    affected = queries.planned_otherwise(changed, by_timetable=timetabled)
    everywhere = replace_all or not settled(plan, len(affected))
    if everywhere or affected:
        affected += queries.movable(make_timetables(plan, now=now, replace_all=replace_all))
    planned = _replan(queries.movable() if everywhere else sorted(set(affected)), plan, now)
    Plan.objects.filter(pk=1).update(planned_revision=former.revision)
    if everywhere and rehearse_price(now=now):
        _replan(queries.movable(), current_plan(), now)
    if everywhere:
        draw_curve(now=now)
    return planned


def replan(source_ids: Collection[int] | None = None, *, now: datetime) -> int:
    """Plan waiting sources again, all by default; returns how many could be planned.

    Price and timetables do not follow: another weight is left for `replan_changed` to take note of.
    """
    return _replan(queries.movable(source_ids), current_plan(), now, noting=False)


def _replan(source_ids: Sequence[int], plan: Plan, now: datetime, *, noting: bool = True) -> int:
    if plan.price is None:
        return 0
    terms = terms_of(plan, plan.price)
    planned: set[int] = set()
    missed = list(source_ids)
    for attempt in range(ROUNDS):
        if attempt:
            time.sleep(PAUSE)
        for start in range(0, len(missed), CHUNK):
            planned |= _replan_chunk(missed[start : start + CHUNK], terms, now, noting)
        # A row locked by another transaction may follow the former price; claimed ones are no longer movable.
        missed = [source_id for source_id in queries.movable(missed) if source_id not in planned]
        if not missed:
            break
    return len(planned)


@transaction.atomic
def _replan_chunk(source_ids: Sequence[int], terms: Terms, now: datetime, noting: bool) -> set[int]:
    rows = query_as(_Movable.of, _ROWS, parameters(ids=list(source_ids), **queries.MOVABLE_VALUES))
    if not rows:
        return set()
    sources = [row.source for row in rows]
    optimal = replanned(sources, terms, now=now)
    due = [_allowed(row, best, now) for row, (best, _) in zip(rows, optimal, strict=True)]
    ids = [source.source_id for source in sources]
    execute(
        _MOVE, [ids, due, [reason for _, reason in optimal], [source.worth if noting else None for source in sources]]
    )
    wake_beat(due, now)
    return set(ids)


def _allowed(row: _Movable, best: datetime, now: datetime) -> datetime:
    """The optimal due time, or the first later one that politeness and the feed's hints allow."""
    source = row.source
    if best <= now:
        # Overdue by the new plan. Many are at once, so they are spread; a second run moves none of them.
        best = min(row.due_at, now + SPREAD / source.clock_rate * (source.source_id * GOLDEN % 1))
    allowed = max(best, source.earliest or best)
    if not row.hints.skip_hours and not row.hints.skip_days:
        return allowed
    limits = Limits(min_gap=settings.RETRIEVAL_MIN_GAP).scaled(source.clock_rate)
    return next_due_time(allowed, allowed, row.hints, limits, since=now, jitter=0.0)
