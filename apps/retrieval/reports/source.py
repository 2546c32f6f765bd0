"""Why one source is asked when it is, and what another weight or more retrievals would change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import exp, inf, log

import numpy as np
from django.db import connection

from apps.database.statements import rows_as
from apps.following.models import Follow
from apps.retrieval import queries
from apps.retrieval.algorithms.calendar import DAY, hours_of
from apps.retrieval.algorithms.planner.rehearsal import Rehearsal, rehearse
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.models import Plan, Schedule, WeeklyProfile
from apps.retrieval.planner.due_times import (
    Retrieved,
    Terms,
    after_retrievals,
    bounds,
    chance_at,
    goes_by_timetable,
    outlook_at,
    terms_of,
    wants_timetable,
)
from apps.retrieval.planner.state import COLUMNS, TABLES, ScheduleState, parameters
from apps.sources.models import Source

CHEAPER = (1.0, 1 / 2, 1 / 4, 1 / 8, 1 / 16)  # parts of the price among which half the delay is looked for
MARKED = timedelta(days=7)  # of the source's own time: as far as instants are marked on its week


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of a source at one price."""

    retrievals: float  # a day of ours
    mean_delay: float  # s of the source's time


@dataclass(frozen=True, slots=True)
class Halving:
    """What it would cost to halve a source's delay."""

    now: Expected
    then: Expected
    possible: bool  # else `then` is the best that the shortest gap allows


@dataclass(frozen=True, slots=True)
class Effect:
    """What another weight would do."""

    weight: float
    now: Expected
    then: Expected
    budget: float  # retrievals a day of all sources

    @property
    def extra(self) -> float:
        """Retrievals a day that this source takes from the others; negative if it leaves them some."""
        return self.then.retrievals - self.now.retrievals

    @property
    def given(self) -> float:
        return -self.extra

    @property
    def others_factor(self) -> float:
        """By which the others' mean delay grows: it goes as one over the retrievals that are left to them."""
        return self.budget / (self.budget - self.extra) if self.extra < self.budget else inf

    @property
    def others_growth(self) -> float:
        """The same in per cent, negative if it shrinks."""
        return 100 * (self.others_factor - 1)

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
    """An instant at which a source is to be asked."""

    at: datetime
    day: int  # of the source's week, Sunday is 0
    hours: float  # since that day began, its local time


@dataclass(frozen=True, slots=True)
class PlanOfSource:
    """All that goes into a source's next instant. What needs a profile or a price is None without."""

    plan: Plan
    remembered: ScheduleState
    readers: int
    profile: SourceProfile | None
    coming: tuple[Coming, ...]  # the next instant and those that are likely to follow it
    expected: float | None  # postings that will be there at the next instant
    price: float | None  # posting-hours per retrieval of this source
    least: float  # h of its own time
    longest: float  # h of its own time
    announced: bool  # its publisher tells us of news by itself, so that no price matters
    halving: Halving | None
    by_timetable: float | None  # retrievals a day of ours, if a policy is in force that does not react
    chance: float | None  # of an update at the next instant, if that policy says


def current_plan() -> Plan:
    return Plan.objects.filter(pk=1).first() or Plan(pk=1)


def readers_of(source: Source) -> int:
    """People whom a posting reaches, by the same rule as worth."""
    followers = Follow.objects.filter(source=source).count()
    return max(1, int(source.listed or source.always_retrieved) + followers)


def plan_of_source(source: Source, schedule: Schedule, now: datetime) -> PlanOfSource | None:
    """What goes into the next instant of a source; four queries."""
    plan, remembered = current_plan(), _remembered(source.pk)
    if remembered is None:
        return None
    profile = WeeklyProfile.objects.filter(pk=source.pk).first() if remembered.hourly else None
    terms = _terms(plan)
    timetable = _timetable(remembered) if terms and wants_timetable(remembered, terms) else None
    announced = remembered.is_announced(now)
    reacts = terms is not None and profile is not None and timetable is None and not announced
    price, least, longest = bounds(remembered, terms, now) if terms else (None, remembered.least, plan.longest_gap)
    return PlanOfSource(
        plan=plan,
        remembered=remembered,
        readers=readers_of(source),
        profile=_profile(profile) if profile else None,
        coming=tuple(_coming(remembered, schedule, terms, now)) if profile else (),
        expected=_expected_by(remembered, schedule.due_at) if profile and schedule.due_at else None,
        price=price,
        least=least,
        longest=longest,
        announced=announced,
        halving=_halving(remembered, terms, now) if terms and reacts else None,
        by_timetable=timetable.per_day * remembered.clock_rate if timetable else None,
        chance=_chance(remembered, schedule, terms, now) if terms else None,
    )


def effect_of(source: Source, weight: float, now: datetime) -> Effect | None:
    """What a weight would do to a source; four queries. None while its profile or the price is not known.

    Also under a policy that goes by timetables: their makers know weights, but not what one of them does. And while
    its publisher tells us of news by itself: then it is worth nothing to ask more often.
    """
    plan, remembered = current_plan(), _remembered(source.pk)
    terms = _terms(plan)
    if remembered is None or not remembered.hourly or terms is None or wants_timetable(remembered, terms):
        return None
    if remembered.is_announced(now):
        return None
    then = replace(remembered, worth=weight * source.interest * readers_of(source))
    both = [remembered, then]
    expected_now, expected_then = expected_of_each(both, rehearse(outlook_at(both, terms, now)))
    return Effect(weight, expected_now, expected_then, DAY * queries.hourly_budget(plan, queries.wanted()))


def _remembered(source_id: int) -> ScheduleState | None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COLUMNS} FROM {TABLES} WHERE source.id = %(id)s", parameters(id=source_id))
        return next(iter(rows_as(ScheduleState.of, cursor)), None)


def _terms(plan: Plan) -> Terms | None:
    return None if plan.price is None else terms_of(plan, plan.price)


def _chance(remembered: ScheduleState, schedule: Schedule, terms: Terms, now: datetime) -> float | None:
    """The probability of an update at the next instant, where that is one of a timetable that says so."""
    if schedule.due_at is None or not goes_by_timetable(remembered, terms, now):
        return None
    return chance_at(remembered, _local_hours(remembered, schedule.due_at))


def _timetable(remembered: ScheduleState) -> Timetable | None:
    if not remembered.timetable:
        return None
    return Timetable(np.frombuffer(remembered.timetable, dtype="<f8"), remembered.period)


def _profile(row: WeeklyProfile) -> SourceProfile:
    hourly = np.frombuffer(row.hourly, dtype="<f4").reshape(7, 24).astype(float)
    return SourceProfile(tuple(map(tuple, hourly.tolist())), row.utc_offset, row.weekly, row.learned_at)


def _coming(remembered: ScheduleState, schedule: Schedule, terms: Terms | None, now: datetime) -> list[Coming]:
    """The next instant and those after it, as noted at the latest visit or else as planned now, within a week."""
    if schedule.due_at is None:
        return []
    ahead = [at for at in schedule.ahead if at > schedule.due_at]
    if not ahead and terms is not None:
        ahead = _after(remembered, schedule.due_at, terms)
    until = now + MARKED / remembered.clock_rate
    return [_on_the_week(remembered, at) for at in [schedule.due_at, *ahead] if at < until]


def _after(remembered: ScheduleState, at: datetime, terms: Terms) -> list[datetime]:
    """The instants after one at which exactly what is expected will have come."""
    earliest = at + timedelta(hours=remembered.least / remembered.clock_rate)
    seen = round(_expected_by(remembered, at))
    [following] = after_retrievals([Retrieved(remembered, at, earliest, True, seen)], terms)
    return [following.at, *following.ahead]


def _on_the_week(remembered: ScheduleState, at: datetime) -> Coming:
    day, hours = divmod(_local_hours(remembered, at), DAY)
    return Coming(at, int(day) % 7, hours)


def _expected_by(remembered: ScheduleState, at: datetime) -> float:
    """Postings expected to have been published between the latest observation and an instant."""
    since = remembered.observed_at
    if since is None or at <= since:
        return 0.0
    unbound = outlook_at([remembered], Terms(1.0, DAY), since)
    expected = unbound.expected(np.array([[_local_hours(remembered, since)], [_local_hours(remembered, at)]]))[:, 0]
    return float(remembered.activity.factor * (expected[1] - expected[0]))


def _local_hours(remembered: ScheduleState, at: datetime) -> float:
    """An instant on the source's own axis, in its local time."""
    return float(hours_of(at.timestamp(), remembered.clock_rate)) + remembered.utc_offset / 60


def _halving(remembered: ScheduleState, terms: Terms, now: datetime) -> Halving:
    copies = [remembered] * len(CHEAPER)
    plain = outlook_at(copies, terms, now)
    rehearsal = rehearse(replace(plain, price=plain.price * np.array(CHEAPER)))
    tried = expected_of_each(copies, rehearsal)
    wish = tried[0].mean_delay / 2
    for before, after in pairwise(tried):
        if after.mean_delay <= wish < before.mean_delay:
            return Halving(tried[0], _between(before, after, wish), possible=True)
    return Halving(tried[0], min(tried, key=lambda each: each.mean_delay), possible=False)


def _between(before: Expected, after: Expected, mean_delay: float) -> Expected:
    """Where the delay is so long on the line between two prices; delay goes as a power of the retrievals."""
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
