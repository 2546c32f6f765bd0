"""What other weights of many sources would do to the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from apps.database.statements import rows_as
from apps.retrieval import queries
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.planner.rehearsal import rehearse
from apps.retrieval.planner.due_times import outlook_at, terms_of, wants_timetable
from apps.retrieval.planner.state import COLUMNS, TABLES, WORTH_AT_WEIGHT_1, ScheduleState, parameters
from apps.retrieval.reports.source import Effect, Expected, current_plan, expected_of_each

MAX_REHEARSED = 500  # sources; of more the first ones by number are told of


@dataclass(frozen=True, slots=True)
class EffectOnMany:
    """What other weights would do to sources together; their mean delay is that of their postings."""

    rehearsed: int  # sources
    untold: int  # of which nothing can be said, or that were too many
    effect: Effect


def effect_of_many(weights: Mapping[int, float], now: datetime) -> EffectOnMany | None:
    """What these weights would do to sources; four queries.

    None where it can be said of none of them: see `reports.source.effect_of`.
    """
    plan = current_plan()
    if plan.price is None:
        return None
    terms = terms_of(plan, plan.price)
    told = [
        (row, at_weight_1)
        for row, at_weight_1 in _remembered(sorted(weights)[:MAX_REHEARSED])
        if row.hourly and not wants_timetable(row, terms) and not row.is_announced(now)
    ]
    if not told:
        return None
    as_now = [row for row, _ in told]
    then = [replace(row, worth=weights[row.source_id] * at_weight_1) for row, at_weight_1 in told]
    rehearsal = rehearse(outlook_at([*as_now, *then], terms, now))
    each, postings, count = expected_of_each([*as_now, *then], rehearsal), rehearsal.postings.tolist(), len(told)
    effect = Effect(
        weight=0.0,  # each has its own
        now=_together(each[:count], postings[:count]),
        then=_together(each[count:], postings[count:]),
        budget=DAY * queries.hourly_budget(plan, queries.wanted()),
    )
    return EffectOnMany(count, len(weights) - count, effect)


def _together(each: list[Expected], postings: list[float]) -> Expected:
    """Of several sources: the sum of retrievals, and the mean over their postings.

    >>> _together([Expected(12.0, 60.0), Expected(2.0, 600.0)], [3.0, 1.0])
    Expected(retrievals=14.0, mean_delay=195.0)
    """
    weights = postings if sum(postings) > 0 else [1.0] * len(each)
    delays = sum(one.mean_delay * weight for one, weight in zip(each, weights, strict=True))
    return Expected(sum(one.retrievals for one in each), delays / sum(weights))


def _remembered(source_ids: list[int]) -> list[tuple[ScheduleState, float]]:
    """What is remembered of sources, and what each would be worth at weight 1."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS}, ({WORTH_AT_WEIGHT_1})::float8 AS at_weight_1 FROM {TABLES}"
            " WHERE source.id = ANY(%(ids)s) ORDER BY source.id",
            parameters(ids=source_ids),
        )
        return rows_as(_with_worth, cursor)


def _with_worth(*, at_weight_1: float, **columns: Any) -> tuple[ScheduleState, float]:
    return ScheduleState.of(**columns), at_weight_1
