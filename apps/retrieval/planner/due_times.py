"""Computes the next due times of sources from their schedule states; pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import expm1
from typing import NamedTuple

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import hours_of
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.planner.lookahead import Outlook, due_times_ahead, next_gaps
from apps.retrieval.algorithms.weekly_profiles.learning import expectations
from apps.retrieval.models import Plan, Retrieval
from apps.retrieval.planner.state import ScheduleState
from apps.retrieval.policies import policy_of
from apps.sources.kinds import kind_of

AHEAD = 12  # further due times, stored for display
AT_ONCE = timedelta(seconds=1)  # a time of a timetable this near is that of the present retrieval
MAX_SHIFT = 0.25  # share of the shortest gap by which a time of a timetable may be moved
OBSERVING = (Retrieval.Outcome.NEW, Retrieval.Outcome.UNCHANGED, Retrieval.Outcome.NOT_MODIFIED)
UNSURE = 0.95  # articles; of fewer expected ones a reason says how likely one is
SAME = 1 / 60  # h; times of a timetable differ by more
BY_TIMETABLE = "the next time in its timetable"
POLITENESS = "as early as the rate limit allows"
SAFETY = "routine check: its publisher sends updates itself"
SAFETY_GAP = 24.0  # h of a source's own time between two checks while its publisher pushes updates


class Terms(NamedTuple):
    """What the plan sets for all sources."""

    price: float  # posting-hours per unit of the budget
    longest: float  # hours of the source's own time between two retrievals
    by_timetable: bool = False  # a policy that does not react
    pages_by_timetable: bool = False  # the same for pages alone
    tracks_pages: bool = False  # pages are checked often until they have a timetable


def terms_of(plan: Plan, price: float) -> Terms:
    policy, of_pages = (policy_of(plan.policy, plan.pages_policy, pages=pages) for pages in (False, True))
    return Terms(
        price,
        plan.longest_gap,
        by_timetable=not policy.reacts,
        pages_by_timetable=not of_pages.reacts,
        tracks_pages=of_pages.for_pages,
    )


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What planning needs to know of one retrieval."""

    state: ScheduleState
    at: datetime
    earliest: datetime  # politeness allows no request before
    observed: bool  # whether it showed the source's postings
    seen: int = 0  # postings published since the previous retrieval that showed them

    @property
    def least(self) -> float:
        """The shortest gap from now on, in the source's own hours."""
        source = self.state
        polite = max((self.earliest - self.at).total_seconds() * source.clock_rate, source.min_gap) / 3600
        return max(polite, SAFETY_GAP) if source.is_announced(self.at) else polite


@dataclass(frozen=True, slots=True)
class Next:
    """When a source is retrieved next, and its activity now."""

    at: datetime
    reason: str
    ahead: list[datetime]
    activity: Activity


class Bounds(NamedTuple):
    """Constraints on the gaps of a source."""

    price: float  # of a retrieval, in posting-hours of this source
    least: float  # h of its own time
    longest: float  # h of its own time


def bounds(state: ScheduleState, terms: Terms, at: datetime) -> Bounds:
    """The constraints on a source's gaps at a given time.

    Only here may a source differ from all others in the cost of waiting: one whose publisher pushes updates needs only
    a routine check, and a page under CAM is first tracked, until the next night.
    """
    price = terms.price * state.cost / max(state.worth, 1e-12)
    if state.is_announced(at):
        return Bounds(price, max(SAFETY_GAP, state.least), SAFETY_GAP)
    if terms.tracks_pages and kind_of(state.kind).is_page and not state.timetable:
        return Bounds(price, state.least, state.least)
    return Bounds(price, state.least, terms.longest)


def _outlook(sources: Sequence[ScheduleState], terms: Terms, now: FloatArray, at: Sequence[datetime]) -> Outlook:
    """What is expected of sources, each from its own local hours `now` on, as if all had just been retrieved.

    Their bounds are those at the times `at`.
    """
    each = [bounds(source, terms, moment) for source, moment in zip(sources, at, strict=True)]
    prices, least, longest = np.array(each).T
    return Outlook(
        cumulated=expectations([source.profile for source in sources]),
        now=now,
        waiting=np.zeros(len(sources)),
        factor=np.array([source.activity.factor for source in sources]),
        price=prices,
        least=least,
        longest=longest,
        window=np.array([np.inf if source.window is None else source.window for source in sources]),
    )


def outlook_at(sources: Sequence[ScheduleState], terms: Terms, now: datetime) -> Outlook:
    """What is expected of sources from a time on, as if all had just been retrieved."""
    return _outlook(sources, terms, np.array([source.local_hours(now) for source in sources]), [now] * len(sources))


def after_retrievals(retrieved: Sequence[Retrieved], terms: Terms) -> list[Next]:
    """The next due time of each source, whose profile must be known, after its retrieval.

    After a failed retrieval the activity stays, and what is waiting since the latest observation counts.
    """
    if not retrieved:
        return []
    sources = [each.state for each in retrieved]
    now = np.array([each.state.local_hours(each.at) for each in retrieved])
    since = np.array([each.state.local_hours(each.state.observed_at or each.at) for each in retrieved])
    plain = _outlook(sources, terms, now, [each.at for each in retrieved])
    before, until = plain.expected(np.vstack((since, now)))
    observed = np.array([each.observed for each in retrieved])
    former = Activity(*np.array([source.activity for source in sources]).T)
    grown = former.after(now - since, np.array([each.seen for each in retrieved]), until - before)
    activity = Activity(*(np.where(observed, new, old) for new, old in zip(grown, former, strict=True)))
    planned = replace(
        plain,
        factor=activity.factor,
        waiting=np.where(observed, 0.0, activity.factor * (until - before)),
        least=np.array([each.least for each in retrieved]),
    )
    plans = _plans(retrieved, planned, terms)
    first = np.array([hours for hours, *_ in plans])
    before, until = plain.expected(np.vstack((now, first)))
    expected = planned.waiting + planned.factor * (until - before)
    gaps = (first - now, expected, planned.least, planned.longest)
    return [
        _next(each, hours, reasons, Activity(*values), terms)
        for each, hours, reasons, values in zip(
            retrieved, plans, np.transpose(gaps).tolist(), np.transpose(activity).tolist(), strict=True
        )
    ]


def _plans(retrieved: Sequence[Retrieved], outlook: Outlook, terms: Terms) -> list[list[float]]:
    """The next due times of each source in local hours."""
    by_timetable = [goes_by_timetable(each.state, terms, each.at) for each in retrieved]
    ahead = iter(due_times_ahead(outlook.part(np.flatnonzero(np.logical_not(by_timetable)))))
    return [
        _by_timetable(each.state, each.at + AT_ONCE, each.earliest) if is_listed else next(ahead)[: AHEAD + 1]
        for each, is_listed in zip(retrieved, by_timetable, strict=True)
    ]


def wants_timetable(source: ScheduleState, terms: Terms) -> bool:
    """Whether the plan gives a source a timetable, even if it is not computed yet."""
    return terms.pages_by_timetable if kind_of(source.kind).is_page else terms.by_timetable


def goes_by_timetable(source: ScheduleState, terms: Terms, at: datetime) -> bool:
    """Whether a source is due by its timetable, whatever its retrievals find."""
    return wants_timetable(source, terms) and bool(source.timetable) and not source.is_announced(at)


def _next(retrieved: Retrieved, plan: list[float], gap: list[float], activity: Activity, terms: Terms) -> Next:
    source = retrieved.state
    at, *ahead = map(source.moment, plan)
    if source.is_announced(retrieved.at):
        return Next(at, SAFETY, ahead, activity)
    by_timetable = goes_by_timetable(source, terms, retrieved.at)
    return Next(at, _reason_of_timetable(source, at) if by_timetable else _reason(*gap), ahead, activity)


def _reason(gap: float, expected: float, least: float, longest: float) -> str:
    if gap <= least + 1e-6:
        return POLITENESS
    if gap >= longest - 1e-6:
        return f"the {longest:g}-hour limit: too little is expected to justify an earlier check"
    if expected >= UNSURE:
        return f"{expected:.1f} articles expected by then; an earlier check would cost more than it saves"
    chance = max(-expm1(-expected), 0.01)
    return f"the probability of a new article by then is {chance:.2g}; an earlier check would cost more than it saves"


def chance_at(source: ScheduleState, at: datetime) -> float | None:
    """The probability of an update at one of the times of a source's timetable, if it states any."""
    if not source.chances:
        return None
    phase = hours_of(at.timestamp(), source.clock_rate) % source.period
    apart = np.abs(np.frombuffer(source.timetable, dtype="<f8") - phase)
    apart = np.minimum(apart, source.period - apart)
    nearest = int(apart.argmin())
    return float(np.frombuffer(source.chances, dtype="<f4")[nearest]) if apart[nearest] < SAME else None


def _reason_of_timetable(source: ScheduleState, at: datetime) -> str:
    chance = chance_at(source, at)
    if chance is None:
        return BY_TIMETABLE
    return f"page of weight {source.worth:.3g}, update expected with probability {chance:.2g}"


def _by_timetable(source: ScheduleState, now: datetime, earliest: datetime) -> list[float]:
    """The next times of a source's timetable in local hours, moved to `earliest` if they are a little before it.

    The latest retrieval may have been late by seconds, which must not cost the next one. Chances are those of the very
    times.
    """
    timetable, moved = source.unpacked_timetable, 0.0 if source.chances else MAX_SHIFT * source.min_gap / 3600
    begin, allowed = (float(hours_of(at.timestamp(), source.clock_rate)) for at in (now, max(now, earliest)))
    end = allowed + source.period * (2 + AHEAD // timetable.times.size)
    times = timetable.between(max(begin, allowed - moved), end)[: AHEAD + 1]
    # Timetables are made on the axis of UTC.
    found: list[float] = (np.maximum(times, allowed) + source.utc_offset / 60).tolist()
    return found


def replanned(sources: Sequence[ScheduleState], terms: Terms, *, now: datetime) -> list[tuple[datetime, str]]:
    """The next due times and reasons of many waiting sources, all observed and with a profile, under new terms.

    Each is planned from its latest observation on, as it was then, so that planning twice changes nothing; a due time
    may already have passed.
    """
    rest = [source for source in sources if not goes_by_timetable(source, terms, now)]
    planned = dict(zip((source.source_id for source in rest), _at_price(rest, terms, now), strict=True))
    for source in sources:
        if source.source_id not in planned:
            at = source.moment(_by_timetable(source, now, source.earliest or now)[0])
            planned[source.source_id] = (at, _reason_of_timetable(source, at))
    return [planned[source.source_id] for source in sources]


def _at_price(sources: Sequence[ScheduleState], terms: Terms, now: datetime) -> list[tuple[datetime, str]]:
    if not sources:
        return []
    begin = np.array([source.local_hours(source.observed_at) for source in sources if source.observed_at])
    outlook = _outlook(sources, terms, begin, [now] * len(sources))
    gaps = next_gaps(outlook)
    before, until = outlook.expected(np.vstack((begin, begin + gaps)))
    expected = outlook.factor * (until - before)
    rows = zip(
        sources, (begin + gaps).tolist(), gaps.tolist(), expected.tolist(), outlook.least.tolist(),
        outlook.longest.tolist(), strict=True
    )  # fmt: skip
    return [
        (source.moment(at), SAFETY if source.is_announced(now) else _reason(gap, *others))
        for source, at, gap, *others in rows
    ]
