"""What retrievals show of their sources, and when these are due next; in the transaction that stores the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from apps.database.statements import execute, query, query_as
from apps.postings.actions import Stored
from apps.retrieval.actions.learning import Learner, learn_first_profiles
from apps.retrieval.actions.plan import current_plan, scale_price
from apps.retrieval.http.results import FetchResult
from apps.retrieval.planner.due_times import Next, Retrieved, after_retrievals, terms_of
from apps.retrieval.planner.state import COLUMNS, TABLES, ScheduleState, parameters


class Former(NamedTuple):
    """The schedule state of a source before a retrieval."""

    state: ScheduleState
    first_observed_at: datetime | None  # delays of earlier postings do not count

    @classmethod
    def of(cls, *, first_observed_at: datetime | None, **columns: Any) -> "Former":
        return cls(ScheduleState.of(**columns), first_observed_at)


@dataclass(frozen=True, slots=True)
class Planned:
    """A retrieval and the schedule state after it."""

    result: FetchResult
    stored: Stored | None
    delays: list[float]  # s of the source's time; of new postings whose date is known
    due_at: datetime | None
    columns: dict[str, Any]  # columns of the schedule that planning writes; `earliest_at` and `ahead` stay if None


def plan_next(
    results: Sequence[FetchResult], formers: Mapping[int, Former], stored: Mapping[int, Stored]
) -> list[Planned]:
    """Plan the next due time of each source, whose schedule is locked and whose postings are stored.

    After the first success of a source its profile is learnt at once, from its first postings and the priors.
    """
    states = {source_id: former.state for source_id, former in formers.items()}
    states |= _with_first_profiles([each for each in results if each.observed and not states[_id(each)].hourly])
    _store_windows([result for result in results if states[_id(result)].hourly], states)
    plannable = [result for result in results if not result.deferred and states[_id(result)].hourly]
    pushed = _pushed([result for result in plannable if result.observed and states[_id(result)].pushed_until])
    retrieved = [
        _retrieved(result, states[_id(result)], stored.get(_id(result)), pushed.get(_id(result), 0))
        for result in plannable
    ]
    planned = dict(zip(map(_id, plannable), _next_due_times(retrieved), strict=True))
    return [_planned(each, formers[_id(each)], stored.get(_id(each)), planned.get(_id(each))) for each in results]


def _id(result: FetchResult) -> int:
    return result.assignment.source_id


def _with_first_profiles(results: Sequence[FetchResult]) -> dict[int, ScheduleState]:
    if not results:
        return {}
    clock_rates = {_id(result): result.assignment.clock_rate for result in results}
    learn_first_profiles(
        [Learner(source_id, clock_rate) for source_id, clock_rate in clock_rates.items()],
        now=max(result.fetched.received_at for result in results),
    )
    statement = f"SELECT {COLUMNS} FROM {TABLES} WHERE source.id = ANY(%(ids)s)"
    found = query_as(ScheduleState.of, statement, parameters(ids=list(clock_rates)))
    return {state.source_id: state for state in found}


def _store_windows(results: Sequence[FetchResult], states: dict[int, ScheduleState]) -> None:
    """Store how many items a whole document shows: if more are published between two retrievals, some are lost."""
    shown = {
        _id(each): len(each.read.feed.entries) for each in results if each.read.feed and each.fetched.status == 200
    }
    changed = {source_id: count for source_id, count in shown.items() if states[source_id].window != count}
    for source_id, count in changed.items():
        states[source_id] = replace(states[source_id], window=count)
    if changed:
        execute(
            """UPDATE retrieval_weeklyprofile profile SET "window" = shown.items
            FROM unnest(%s::bigint[], %s::int[]) shown(source_id, items)
            WHERE profile.source_id = shown.source_id""",
            [list(changed), list(changed.values())],
        )


def _pushed(results: Sequence[FetchResult]) -> dict[int, int]:
    """How many postings published since each source was last observed were pushed before the retrieval."""
    if not results:
        return {}
    pushed = query(
        """
        SELECT posting.source_id, count(*)
        FROM unnest(%s::bigint[], %s::timestamptz[]) result(source_id, at)
        JOIN retrieval_schedule schedule ON schedule.source_id = result.source_id
        JOIN postings_posting posting ON posting.source_id = result.source_id
            AND posting.published_at > schedule.observed_at AND posting.published_at <= result.at
            AND posting.retrieved_at < result.at
        GROUP BY posting.source_id
        """,
        [[_id(result) for result in results], [result.fetched.received_at for result in results]],
    )
    return dict(pushed)


def _retrieved(result: FetchResult, state: ScheduleState, stored: Stored | None, pushed: int) -> Retrieved:
    at, since = result.fetched.received_at, state.observed_at
    seen = pushed
    if stored is not None and since is not None:
        undated = stored.new - len(stored.published)
        seen += undated + sum(since < published <= at for published in stored.published)
    return Retrieved(state, at, result.earliest, result.observed, seen)


def _next_due_times(retrieved: Sequence[Retrieved]) -> list[Next]:
    if not retrieved:
        return []
    plan = current_plan()
    if plan.price is None:
        plan = scale_price(now=max(each.at for each in retrieved)) or plan
    return after_retrievals(retrieved, terms_of(plan, plan.price or 1.0))


def _planned(result: FetchResult, former: Former, stored: Stored | None, following: Next | None) -> Planned:
    due_at, reason = result.due(following)
    ahead = [at for at in following.ahead if at > due_at] if due_at and following else []
    activity = following.activity if following else former.state.activity
    columns = {
        "due_at": due_at,
        "reason": reason[:200],
        "earliest_at": None if result.deferred else result.demanded,
        "ahead": None if result.deferred else ahead,
        "observed_at": result.fetched.received_at if result.observed else former.state.observed_at,
        "activity_seen": activity.seen,
        "activity_expected": activity.expected,
    }
    return Planned(result, stored, _delays(result, former, stored) if stored else [], due_at, columns)


def _delays(result: FetchResult, former: Former, stored: Stored) -> list[float]:
    at, observed_at, first = result.fetched.received_at, former.state.observed_at, former.first_observed_at
    return delays(stored, at, result.assignment.clock_rate, observed_at=observed_at, first=first)


def delays(
    stored: Stored, received_at: datetime, clock_rate: float, *, observed_at: datetime | None, first: datetime | None
) -> list[float]:
    """The delays of new postings, in seconds of the source's time.

    A posting dated before the latest observation was not shown then, so its delay counts from that observation.
    Postings published before the first observation of all have none.
    """
    if observed_at is None or first is None:
        return []
    begins = [max(published, observed_at) for published in stored.published if published > first]
    return [(received_at - begin).total_seconds() * clock_rate for begin in begins]
