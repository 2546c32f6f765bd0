"""The plan of a source."""

from datetime import datetime

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.reports.delays import check_rate_of


class SourcePlan(Schema):
    source_id: int
    next_at: datetime | None = Field(description="Null while it is not checked.")
    reason: str
    per_day: float | None = Field(description="Recent checks; null before the first one.")
    mean_delay: float | None = Field(description="Seconds from publication to retrieval, in the source's own time.")


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
