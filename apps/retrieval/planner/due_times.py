"""From what is remembered of sources to the instants at which they are asked next; nothing here asks or writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import epoch_of, hours_of
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.planner.lookahead import Outlook, due_times_ahead, next_gaps
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.weekly_profiles.packing import expectations
from apps.retrieval.models import Plan, Retrieval
from apps.retrieval.planner.state import ScheduleState
from apps.retrieval.policies import policy_of
from apps.sources.kinds import kind_of

FloatArray = NDArray[np.float64]

AHEAD = 12  # instants kept for people to see
AT_ONCE = timedelta(seconds=1)  # an instant of a timetable so near was used by this very retrieval
OBSERVING = (Retrieval.Outcome.NEW, Retrieval.Outcome.UNCHANGED, Retrieval.Outcome.NOT_MODIFIED)
SAME = 1 / 60  # h: an instant so near to one of a timetable is that one
BY_TIMETABLE = "the next time in its timetable"
# Pages of which only looks show that they have changed.
POLITENESS = "as early as the rate limit allows"
SAFETY = "routine check: its publisher sends updates itself"
SAFETY_GAP = 24.0  # h of a source's own time between two looks at one whose publisher tells us of news


class Terms(NamedTuple):
    """What the plan says of all sources."""

    price: float  # posting-hours per retrieval
    longest: float  # hours of the source's own time between two retrievals
    by_timetable: bool = False  # a policy that does not react
    pages_by_timetable: bool = False  # the same of pages alone
    tracks_pages: bool = False  # pages are looked at often until they have a timetable


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
    """What one visit to a source means for planning."""

    remembered: ScheduleState
    at: datetime
    earliest: datetime  # politeness allows no request before
    observed: bool  # whether the visit showed what the source has
    seen: int = 0  # postings published since the visit that showed it before

    @property
    def least(self) -> float:
        """The shortest gap from now on, in the source's own hours."""
        source = self.remembered
        polite = max((self.earliest - self.at).total_seconds() * source.clock_rate, source.min_gap) / 3600
        return max(polite, SAFETY_GAP) if source.is_announced(self.at) else polite


@dataclass(frozen=True, slots=True)
class Next:
    """When a source is asked next, and what is known of it now."""

    at: datetime
    reason: str
    ahead: list[datetime]
    activity: Activity


class Bounds(NamedTuple):
    """What the gaps of a source obey."""

    price: float  # of a retrieval, in posting-hours of this source
    least: float  # h of its own time
    longest: float  # h of its own time


def bounds(remembered: ScheduleState, terms: Terms, at: datetime) -> Bounds:
    """What a source's gaps obey at an instant.

    The one place where a source may differ from all others in what it costs to wait: one that tells us of its news by
    itself needs no more than a look now and then, and a page that goes by CAM is first tracked, until the next night.
    """
    price = terms.price / max(remembered.worth, 1e-12)
    if remembered.is_announced(at):
        return Bounds(price, max(SAFETY_GAP, remembered.least), SAFETY_GAP)
    if terms.tracks_pages and kind_of(remembered.kind).is_page and not remembered.timetable:
        return Bounds(price, remembered.least, remembered.least)
    return Bounds(price, remembered.least, terms.longest)


def _outlook(sources: Sequence[ScheduleState], terms: Terms, now: FloatArray, at: Sequence[datetime]) -> Outlook:
    """What is expected of sources, each from its own instant on (see `_hours`), as if all had just been asked.

    Their bounds are those of the instants `at`.
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
    """What is expected of sources from an instant on, as if all had just been asked."""
    return _outlook(sources, terms, np.array([_hours(now, source) for source in sources]), [now] * len(sources))


def _hours(moment: datetime, source: ScheduleState) -> float:
    """An instant on the source's own axis, in its local time."""
    return float(hours_of(moment.timestamp(), source.clock_rate)) + source.utc_offset / 60


def _moment(hours: float, source: ScheduleState) -> datetime:
    """The inverse of `_hours`."""
    return datetime.fromtimestamp(epoch_of(hours - source.utc_offset / 60, source.clock_rate), UTC)


def after_retrievals(retrieved: Sequence[Retrieved], terms: Terms) -> list[Next]:
    """The next instant of each source, whose profile must be known, after what its retrieval brought.

    After a failed visit the activity stays, and what has been waiting since the source was last observed counts.
    """
    if not retrieved:
        return []
    sources = [each.remembered for each in retrieved]
    now = np.array([_hours(each.at, each.remembered) for each in retrieved])
    since = np.array([_hours(each.remembered.observed_at or each.at, each.remembered) for each in retrieved])
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
    plans = [_plan(each, planned.part(slice(i, i + 1)), terms) for i, each in enumerate(retrieved)]
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


def _plan(retrieved: Retrieved, outlook: Outlook, terms: Terms) -> list[float]:
    """The next instants of one source on its own axis."""
    source = retrieved.remembered
    if goes_by_timetable(source, terms, retrieved.at):
        earliest = max(retrieved.earliest, retrieved.at + AT_ONCE)
        return _by_timetable(source, earliest)
    return due_times_ahead(outlook)[: AHEAD + 1]


def wants_timetable(source: ScheduleState, terms: Terms) -> bool:
    """Whether the plan has a source go by a timetable, be it made yet or not."""
    return terms.pages_by_timetable if kind_of(source.kind).is_page else terms.by_timetable


def goes_by_timetable(source: ScheduleState, terms: Terms, at: datetime) -> bool:
    """Whether a timetable says when a source is asked next, not what its retrievals bring."""
    return wants_timetable(source, terms) and bool(source.timetable) and not source.is_announced(at)


def _next(retrieved: Retrieved, plan: list[float], gap: list[float], activity: Activity, terms: Terms) -> Next:
    source = retrieved.remembered
    at, *ahead = (_moment(hours, source) for hours in plan)
    if source.is_announced(retrieved.at):
        return Next(at, SAFETY, ahead, activity)
    by_timetable = goes_by_timetable(source, terms, retrieved.at)
    return Next(at, _reason_of_timetable(source, plan[0]) if by_timetable else _reason(*gap), ahead, activity)


def _reason(gap: float, expected: float, least: float, longest: float) -> str:
    if gap <= least + 1e-6:
        return POLITENESS
    if gap >= longest - 1e-6:
        return f"the {longest:g}-hour limit: too little is expected to justify an earlier check"
    postings = f"{expected:.1f}" if expected >= 0.95 else f"{max(expected, 0.01):.2f}"
    return f"{postings} articles expected by then; an earlier check would cost more than it saves"


def chance_at(source: ScheduleState, hours: float) -> float | None:
    """The probability of an update at an instant (hours as those of `_hours`), if a timetable says so of it."""
    if not source.chances:
        return None
    instants = np.frombuffer(source.timetable, dtype="<f8")
    phase = (hours - source.utc_offset / 60) % source.period
    apart = np.abs(instants - phase)
    apart = np.minimum(apart, source.period - apart)
    nearest = int(apart.argmin())
    return float(np.frombuffer(source.chances, dtype="<f4")[nearest]) if apart[nearest] < SAME else None


def _reason_of_timetable(source: ScheduleState, hours: float) -> str:
    chance = chance_at(source, hours)
    if chance is None:
        return BY_TIMETABLE
    return f"page of weight {source.worth:.3g}, update expected with probability {chance:.2g}"


def _by_timetable(source: ScheduleState, earliest: datetime) -> list[float]:
    """The first instants of a source's timetable, not before an instant; hours as those of `_hours`."""
    timetable = Timetable(np.frombuffer(source.timetable, dtype="<f8"), source.period)
    begin = float(hours_of(earliest.timestamp(), source.clock_rate))
    end = begin + source.period * (2 + AHEAD // timetable.instants.size)
    # Timetables are made on the axis of UTC.
    instants: list[float] = (timetable.between(begin, end)[: AHEAD + 1] + source.utc_offset / 60).tolist()
    return instants


def replanned(sources: Sequence[ScheduleState], terms: Terms, *, now: datetime) -> list[tuple[datetime, str]]:
    """The next instants and reasons of many sources that wait, all observed and with a profile, under new terms.

    Each is planned from its latest observation on, as it was then, so that planning twice changes nothing; what should
    have been asked by now is returned as an instant that has passed.
    """
    rest = [source for source in sources if not goes_by_timetable(source, terms, now)]
    planned = dict(zip((source.source_id for source in rest), _at_price(rest, terms, now), strict=True))
    for source in sources:
        if source.source_id not in planned:
            hours = _by_timetable(source, max(now, source.earliest_at or now))[0]
            planned[source.source_id] = (_moment(hours, source), _reason_of_timetable(source, hours))
    return [planned[source.source_id] for source in sources]


def _at_price(sources: Sequence[ScheduleState], terms: Terms, now: datetime) -> list[tuple[datetime, str]]:
    if not sources:
        return []
    begin = np.array([_hours(source.observed_at, source) for source in sources if source.observed_at])
    outlook = _outlook(sources, terms, begin, [now] * len(sources))
    gaps = next_gaps(outlook)
    before, until = outlook.expected(np.vstack((begin, begin + gaps)))
    expected = outlook.factor * (until - before)
    rows = zip(
        sources, (begin + gaps).tolist(), gaps.tolist(), expected.tolist(), outlook.least.tolist(),
        outlook.longest.tolist(), strict=True
    )  # fmt: skip
    return [
        (_moment(at, source), SAFETY if source.is_announced(now) else _reason(gap, *others))
        for source, at, gap, *others in rows
    ]
