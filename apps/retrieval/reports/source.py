"""Why a source is due when it is, and the effects of other weights or more retrievals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import exp, inf, log
from typing import Any

import numpy as np

from apps.database.statements import query, query_as
from apps.following.models import Follow
from apps.postings.algorithms.dates import EARLIEST, TOLERANCE
from apps.retrieval import queries
from apps.retrieval.actions.histories import TRUSTED
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.planner.rehearsal import Rehearsal, rehearse
from apps.retrieval.algorithms.sia.metrics import mean_age, mean_freshness
from apps.retrieval.models import Plan, Schedule, WeeklyProfile
from apps.retrieval.planner import due_times
from apps.retrieval.planner.state import COLUMNS, TABLES, WORTH_AT_WEIGHT_1, ScheduleState, parameters
from apps.sources.models import Source

CHEAPER = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)  # parts of the price among which that for half the delay lies
MARKED = timedelta(days=7)  # of the source's own time, within which due times are marked on its week
MAX_REHEARSED = 500  # sources; of more only the first ones by number


@dataclass(frozen=True, slots=True)
class Expected:
    """Retrievals and delay of a source at one price."""

    retrievals: float  # per day of real time
    mean_delay: float  # s of the source's time


@dataclass(frozen=True, slots=True)
class Halving:
    """The cost of halving a source's delay."""

    now: Expected
    then: Expected
    possible: bool  # else `then` is the best that the shortest gap allows


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of other weights on sources together; their mean delay is that of their postings."""

    weight: float  # 0 where each of many sources has its own
    rehearsed: int  # sources
    unpredicted: int  # sources whose effect is unknown, or that were too many
    now: Expected
    then: Expected
    budget: float  # of a day and all sources
    extra: float  # of it, what is taken from the other sources; negative if they gain
    counted: str  # what the budget counts

    @property
    def given(self) -> float:
        return -self.extra

    @property
    def others_growth(self) -> float:
        """Of the others' mean delay, in per cent: it is inversely proportional to what they have of the budget."""
        return 100 * self.extra / (self.budget - self.extra) if self.extra < self.budget else inf

    @property
    def others_shrinkage(self) -> float:
        return -self.others_growth


@dataclass(frozen=True, slots=True)
class SourceProfile:
    hourly: tuple[tuple[float, ...], ...]  # 7 rows of 24: postings expected in each hour, Sunday first, its local time
    utc_offset: int  # minutes
    weekly: float
    learned_at: datetime


@dataclass(frozen=True, slots=True)
class Coming:
    """A due time of a source."""

    at: datetime
    day: int  # of the source's week, Sunday is 0
    hours: float  # since that day began, its local time


@dataclass(frozen=True, slots=True)
class PlanOfSource:
    """All that decides a source's next due time. What needs a profile or a price is None without."""

    plan: Plan
    state: ScheduleState
    readers: int
    profile: SourceProfile | None
    coming: tuple[Coming, ...]  # the next due time and those likely to follow it
    price: float | None  # posting-hours per retrieval of this source
    least: float  # h of its own time
    longest: float  # h of its own time
    announced: bool  # its publisher pushes updates, so that no price matters
    halving: Halving | None
    by_timetable: float | None  # retrievals per day of real time, under a policy that does not react
    chance: float | None  # of an update at the next due time, if the policy computes it


def current_plan() -> Plan:
    return Plan.objects.filter(pk=1).first() or Plan(pk=1)


def readers_of(source: Source) -> int:
    """The number of people a posting reaches, by the same rule as worth."""
    followers = Follow.objects.filter(source=source).count()
    return max(1, int(source.listed or source.always_retrieved) + followers)


def plan_of_source(source: Source, schedule: Schedule, now: datetime) -> PlanOfSource | None:
    """What decides the next due time of a source; four queries."""
    plan, known = current_plan(), _states([source.pk])
    if not known:
        return None
    state = known[0][0]
    profile = WeeklyProfile.objects.filter(pk=source.pk).first() if state.hourly else None
    terms = _terms(plan)
    by_timetable = terms is not None and due_times.wants_timetable(state, terms) and bool(state.timetable)
    is_timetabled = terms is not None and due_times.goes_by_timetable(state, terms, now)
    announced = state.is_announced(now)
    reacts = terms is not None and profile is not None and not by_timetable and not announced
    price, least, longest = due_times.bounds(state, terms, now) if terms else (None, state.least, plan.longest_gap)
    return PlanOfSource(
        plan=plan,
        state=state,
        readers=readers_of(source),
        profile=_profile(profile) if profile else None,
        coming=tuple(_coming(state, schedule, terms, now)) if profile else (),
        price=price,
        least=least,
        longest=longest,
        announced=announced,
        halving=_halving(state, terms, now) if terms and reacts else None,
        by_timetable=state.unpacked_timetable.per_day * state.clock_rate if by_timetable else None,
        chance=due_times.chance_at(state, schedule.due_at) if schedule.due_at and is_timetabled else None,
    )


def staleness(state: ScheduleState, now: datetime) -> dict[str, float] | None:
    """Age, freshness and weighted delay of a source, measured in the last seven days, in its own time; one query.

    Age is a mean over time, in seconds; freshness is a share of time.
    """
    since, rate = now - MARKED, state.clock_rate
    dates = {"id": state.source_id, "since": since, "now": now, "earliest": EARLIEST, "tolerance": TOLERANCE}
    rows = query(
        f"""SELECT extract(epoch FROM published_at)::float8 AS published,
            extract(epoch FROM retrieved_at)::float8 AS retrieved
        FROM postings_posting
        WHERE source_id = %(id)s AND published_at > %(since)s AND retrieved_at <= %(now)s AND {TRUSTED}""",
        dates,
    )
    published, retrieved = (np.sort(times) for times in np.array(rows, dtype=np.float64).reshape(-1, 2).T)
    over = (published, retrieved, since.timestamp(), now.timestamp())
    delay = max(float((retrieved - published).mean()), 0.0) if rows else 0.0
    found = {"age": rate * mean_age(*over), "freshness": mean_freshness(*over), "weighted": rate * state.worth * delay}
    return found if rows else None


def effect_of(source: Source, weight: float, now: datetime) -> Effect | None:
    """The effect of a weight on one source, if it is known; see `effect_of_many`."""
    many = effect_of_many({source.pk: weight}, now)
    return replace(many, weight=weight) if many else None


def effect_of_many(weights: Mapping[int, float], now: datetime) -> Effect | None:
    """The effect of these weights on sources together, or None if it is unknown for all of them; three queries.

    It is unknown before the price and a source's profile are known, and under a policy with timetables, which are
    computed for all sources together. While its publisher pushes updates, more retrievals of a source gain nothing.
    """
    plan = current_plan()
    terms = _terms(plan)
    if terms is None:
        return None
    known = [
        (row, at_weight_1)
        for row, at_weight_1 in _states(sorted(weights)[:MAX_REHEARSED])
        if row.hourly and not due_times.wants_timetable(row, terms) and not row.is_announced(now)
    ]
    if not known:
        return None
    as_now = [row for row, _ in known]
    then = [replace(row, worth=weights[row.source_id] * at_weight_1) for row, at_weight_1 in known]
    budget, count = DAY * queries.hourly_budget(plan, queries.wanted()), len(known)
    outlook, dearer = due_times.outlook_at([*as_now, *then], terms, now), _dearer(plan, budget, as_now, then)
    rehearsal = rehearse(replace(outlook, price=outlook.price * np.repeat([1.0, dearer], count)))
    each, postings = expected_of_each([*as_now, *then], rehearsal), rehearsal.postings.tolist()
    return Effect(
        weight=0.0,
        rehearsed=count,
        unpredicted=len(weights) - count,
        now=_together(each[:count], postings[:count]),
        then=_together(each[count:], postings[count:]),
        budget=budget,
        counted=plan.get_counted_display(),
        extra=sum(
            row.cost * (after.retrievals - before.retrievals)
            for row, before, after in zip(as_now, each[:count], each[count:], strict=True)
        ),
    )


def _dearer(plan: Plan, budget: float, now: Sequence[ScheduleState], then: Sequence[ScheduleState]) -> float:
    """The factor on the price that keeps to the daily budget after other weights."""
    before, after = (sum(row.spending for row in rows) for rows in (now, then))
    return (1 + (after - before) / (plan.mass * budget * 7)) ** 2 if plan.mass and budget else 1.0


def _together(each: list[Expected], postings: list[float]) -> Expected:
    """Of several sources: the sum of retrievals, and the mean over their postings.

    >>> _together([Expected(12.0, 60.0), Expected(2.0, 600.0)], [3.0, 1.0])
    Expected(retrievals=14.0, mean_delay=195.0)
    """
    weights = postings if sum(postings) > 0 else [1.0] * len(each)
    delays = sum(one.mean_delay * weight for one, weight in zip(each, weights, strict=True))
    return Expected(sum(one.retrievals for one in each), delays / sum(weights))


def _states(source_ids: list[int]) -> list[tuple[ScheduleState, float]]:
    """The schedule state of each source, and its worth at weight 1."""

    def with_worth(*, at_weight_1: float, **columns: Any) -> tuple[ScheduleState, float]:
        return ScheduleState.of(**columns), at_weight_1

    statement = (
        f"SELECT {COLUMNS}, ({WORTH_AT_WEIGHT_1})::float8 AS at_weight_1 FROM {TABLES}"
        " WHERE source.id = ANY(%(ids)s) ORDER BY source.id"
    )
    return query_as(with_worth, statement, parameters(ids=source_ids))


def _terms(plan: Plan) -> due_times.Terms | None:
    return None if plan.price is None else due_times.terms_of(plan, plan.price)


def _profile(row: WeeklyProfile) -> SourceProfile:
    hourly = np.frombuffer(row.hourly, dtype="<f4").reshape(7, 24).astype(float)
    return SourceProfile(tuple(map(tuple, hourly.tolist())), row.utc_offset, row.weekly, row.learned_at)


def _coming(state: ScheduleState, schedule: Schedule, terms: due_times.Terms | None, now: datetime) -> list[Coming]:
    """The next due time and those after it within a week, as stored at the latest retrieval or else as planned now."""
    if schedule.due_at is None:
        return []
    ahead = [at for at in schedule.ahead if at > schedule.due_at]
    if not ahead and terms is not None:
        ahead = _after(state, schedule.due_at, terms)
    until = now + MARKED / state.clock_rate
    coming = []
    for at in [schedule.due_at, *ahead]:
        day, hours = divmod(state.local_hours(at), DAY)
        if at < until:
            coming.append(Coming(at, int(day) % 7, hours))
    return coming


def _after(state: ScheduleState, at: datetime, terms: due_times.Terms) -> list[datetime]:
    """The due times after a retrieval that finds exactly what is expected."""
    earliest = at + timedelta(hours=state.least / state.clock_rate)
    seen = round(_expected_by(state, at))
    [following] = due_times.after_retrievals([due_times.Retrieved(state, at, earliest, True, seen)], terms)
    return [following.at, *following.ahead]


def _expected_by(state: ScheduleState, at: datetime) -> float:
    """Postings expected to be published between the latest observation and a given time."""
    since = state.observed_at
    if since is None or at <= since:
        return 0.0
    unbound = due_times.outlook_at([state], due_times.Terms(1.0, DAY), since)
    expected = unbound.expected(np.array([[state.local_hours(since)], [state.local_hours(at)]]))[:, 0]
    return float(state.activity.factor * (expected[1] - expected[0]))


def _halving(state: ScheduleState, terms: due_times.Terms, now: datetime) -> Halving:
    copies = [state] * len(CHEAPER)
    plain = due_times.outlook_at(copies, terms, now)
    rehearsal = rehearse(replace(plain, price=plain.price * np.array(CHEAPER)))
    tried = expected_of_each(copies, rehearsal)
    half = tried[0].mean_delay / 2
    for before, after in pairwise(tried):
        if after.mean_delay <= half < before.mean_delay:
            return Halving(tried[0], _between(before, after, half), possible=True)
    return Halving(tried[0], min(tried, key=lambda each: each.mean_delay), possible=False)


def _between(before: Expected, after: Expected, mean_delay: float) -> Expected:
    """Interpolate the given delay between two prices; delay goes as a power of the retrievals."""
    share = log(before.mean_delay / mean_delay) / log(before.mean_delay / max(after.mean_delay, 1e-9))
    retrievals = log(before.retrievals) + share * log(after.retrievals / before.retrievals)
    return Expected(exp(retrievals), mean_delay)


def expected_of_each(sources: Sequence[ScheduleState], rehearsal: Rehearsal) -> list[Expected]:
    delays = 3_600 * rehearsal.delay / np.maximum(rehearsal.postings, 1e-12)
    made = DAY * rehearsal.retrievals
    return [
        Expected(retrievals * source.clock_rate, delay)
        for source, retrievals, delay in zip(sources, made.tolist(), delays.tolist(), strict=True)
    ]
