"""The plan of one source, and that of all sources."""

from datetime import datetime

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, finite
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.reports import source as reports
from apps.retrieval.reports.delays import check_rate_of
from apps.retrieval.reports.portal import RECENT


class SourcePlan(Schema):
    source_id: int
    next_at: datetime | None = Field(description="Null while it is not checked.")
    reason: str
    per_day: float | None = Field(description="Recent checks; null before the first one.")
    mean_delay: float | None = Field(description="Seconds from publication to retrieval, in the source's own time.")


class Plan(Schema):
    policy: str
    sources: int = Field(description="That are checked.")
    budget: float = Field(description="Checks a day of all sources.")
    used: int = Field(description="In the last 24 hours.")
    price: float | None = Field(description="Posting-hours that a check must save.")
    priced_at: datetime | None
    learned_at: datetime | None
    caught_up: bool = Field(description="Whether all due times follow the current plan.")
    mean_delay: float | None = Field(description="Seconds, in the last 24 hours.")
    longest_delay: float


def source_plan(user: User, source_id: int, now: datetime) -> SourcePlan | None:
    """The plan of a visible source, or None. Three queries."""
    if not following.manageable_sources(user).filter(pk=source_id).exists():
        return None
    schedule, rate = retrieval.schedule_of(source_id), check_rate_of(source_id, now)
    return SourcePlan(
        source_id=source_id,
        next_at=schedule.check_due_at if schedule else None,
        reason=schedule.reason if schedule else "",
        per_day=rate.per_day if rate else None,
        mean_delay=rate.mean_delay.total_seconds() if rate and rate.mean_delay is not None else None,
    )


def whole_plan(now: datetime) -> Plan:
    """The plan of all sources. Four queries."""
    plan, wanted = reports.current_plan(), retrieval.wanted()
    delays = retrieval.delays(now - RECENT, now)
    return Plan(
        **{name: getattr(plan, name) for name in ("policy", "priced_at", "learned_at")},
        sources=wanted.count,
        budget=24 * retrieval.hourly_budget(plan, wanted),
        used=retrieval.requests_made(now - RECENT, now),
        price=finite(plan.price),
        caught_up=plan.planned_revision == plan.revision,
        mean_delay=delays.mean,
        longest_delay=delays.longest,
    )
