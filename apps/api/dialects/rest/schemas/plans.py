"""The plan: of one source as its readers and as staff may see it, and of all sources."""

from collections.abc import Sequence
from datetime import date, datetime

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, finite
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.reports import source as reports
from apps.retrieval.reports.delays import check_rate_of, delays_by_day
from apps.retrieval.reports.portal import RECENT

DAYS = 30


class Habit(Schema):
    """What is expected of it in a week, in its local time."""

    hourly: list[list[float]] = Field(description="Seven rows, Sunday first, of 24 hours: postings expected in each.")
    utc_offset: int = Field(description="Minutes.")
    weekly: float
    learned_at: datetime


class Expected(Schema):
    retrievals: float = Field(description="A day.")
    mean_delay: float = Field(description="Seconds of its own time.")


class Halving(Schema):
    """What it would cost to halve its delay."""

    now: Expected
    then: Expected
    possible: bool


class DelaysOfDay(Schema):
    day: date
    postings: int = Field(description="That were retrieved then and whose delay is known.")
    mean: float | None = Field(description="Seconds.")
    longest: float = Field(description="Seconds.")


class Reasons(Schema):
    """All that goes into its next instant."""

    coming: list[datetime] = Field(description="The next instant, and those that are likely to follow it.")
    expected: float | None = Field(description="Postings that will be there at the next instant.")
    worth: float
    readers: int
    price: float | None = Field(description="Posting-hours that a retrieval must save.")
    least: float | None = Field(description="Shortest gap; hours of its own time.")
    longest: float | None = Field(description="Longest gap; hours of its own time.")
    announced: bool = Field(description="Its publisher tells us of news by itself.")
    activity: float = Field(description="How much it publishes of late, 1 is as usual.")
    chance: float | None = Field(description="Of an update at the next instant, where its policy says so.")
    habit: Habit | None
    halving: Halving | None
    delays: list[DelaysOfDay] = Field(description="Of the last thirty days, the oldest first.")


class SourcePlan(Schema):
    source_id: int
    next_at: datetime | None = Field(description="Null while it is not asked.")
    reason: str
    per_day: float | None = Field(description="Retrievals of late; null before there is one.")
    mean_delay: float | None = Field(description="Seconds from publication until it was here, in its own time.")
    for_staff: Reasons | None


class Plan(Schema):
    policy: str
    sources: int = Field(description="That are to be asked.")
    budget: float = Field(description="Retrievals a day of all of them.")
    used: int = Field(description="In the last 24 hours.")
    price: float | None = Field(description="Posting-hours that a retrieval must save.")
    priced_at: datetime | None
    learned_at: datetime | None
    caught_up: bool = Field(description="Whether all instants follow the plan as it stands.")
    mean_delay: float | None = Field(description="Seconds, in the last 24 hours.")
    longest_delay: float


def source_plan(user: User, source_id: int, now: datetime) -> SourcePlan | None:
    """The plan of a source that the person may see, or None. Three queries, eight for staff."""
    source = following.manageable_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    schedule, asking = retrieval.schedule_of(source_id), check_rate_of(source_id, now)
    found = reports.plan_of_source(source, schedule, now) if schedule and user.is_staff else None
    return SourcePlan(
        source_id=source_id,
        next_at=schedule.check_due_at if schedule else None,
        reason=schedule.reason if schedule else "",
        per_day=asking.per_day if asking else None,
        mean_delay=asking.mean_delay.total_seconds() if asking and asking.mean_delay is not None else None,
        for_staff=_reasons(found, _days(source_id, now)) if found else None,
    )


def _days(source_id: int, now: datetime) -> list[DelaysOfDay]:
    return [DelaysOfDay.model_validate(day) for day in delays_by_day(now, DAYS, source_id)]


def _reasons(found: reports.PlanOfSource, days: Sequence[DelaysOfDay]) -> Reasons:
    return Reasons(
        coming=[coming.at for coming in found.coming],
        expected=finite(found.expected),
        worth=found.remembered.worth,
        readers=found.readers,
        price=finite(found.price),
        least=finite(found.least),
        longest=finite(found.longest),
        announced=found.announced,
        activity=found.remembered.activity.factor,
        chance=finite(found.chance),
        habit=_profile(found.profile) if found.profile else None,
        halving=Halving.model_validate(found.halving) if found.halving else None,
        delays=list(days),
    )


def _profile(habit: reports.SourceProfile) -> Habit:
    return Habit(
        hourly=[list(row) for row in habit.hourly],
        utc_offset=habit.utc_offset,
        weekly=habit.weekly,
        learned_at=habit.learned_at,
    )


def whole_plan(now: datetime) -> Plan:
    """The plan of all sources. Four queries."""
    plan, wanted = reports.current_plan(), retrieval.wanted()
    delays = retrieval.delays(now - RECENT, now)
    return Plan(
        policy=plan.policy,
        sources=wanted.count,
        budget=24 * retrieval.hourly_budget(plan, wanted),
        used=retrieval.requests_made(now - RECENT, now),
        price=finite(plan.price),
        priced_at=plan.priced_at,
        learned_at=plan.learned_at,
        caught_up=plan.planned_revision == plan.revision,
        mean_delay=delays.mean,
        longest_delay=delays.longest,
    )
