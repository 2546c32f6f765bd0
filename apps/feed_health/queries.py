"""Reads of notices, and of the health of the feeds that a user follows."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import F, QuerySet

from apps.accounts.models import User
from apps.database.statements import fetch_as
from apps.feed_health.models import MailSetting, Notice

MAX_SHOWN = 100


def open_notices(user: User) -> QuerySet[Notice]:
    """The user's notices that are not dismissed, the newest first, with their sources."""
    return Notice.objects.filter(user=user, dismissed_at=None).select_related("source").order_by("-pk")


def wants_mail(user: User) -> bool:
    return MailSetting.objects.filter(user=user).exists()


def to_be_mailed() -> QuerySet[Notice]:
    """Open notices of users who want them by mail."""
    return Notice.objects.filter(
        dismissed_at=None,
        mailed_at=None,
        created_at__gte=F("user__notice_mail_wish__since"),
        user__is_active=True,
    ).exclude(user__email="")


class Health(NamedTuple):
    """The health of a followed source."""

    source_id: int
    title: str
    state: str  # of the source
    muted: bool
    failures: int  # in a row
    failing_since: datetime | None
    answered_at: datetime | None  # the latest success
    due_at: datetime | None  # of the next check, or of the one under way
    published_at: datetime | None  # of its newest posting
    outcome: str  # of the latest retrieval
    status: int
    message: str

    @property
    def is_well(self) -> bool:
        return self.state == "active" and not self.failures


_HEALTH = """
SELECT * FROM (
SELECT source.id AS source_id, coalesce(nullif(follow.title, ''), nullif(source.title, ''), source.url) AS title,
    source.state, follow.muted, coalesce(schedule.consecutive_failures, 0) AS failures, schedule.failing_since,
    schedule.observed_at AS answered_at, coalesce(schedule.first_due_at, schedule.due_at) AS due_at,
    newest.published_at, coalesce(latest.outcome, '') AS outcome, coalesce(latest.status, 0) AS status,
    coalesce(latest.message, '') AS message
FROM following_follow follow JOIN sources_source source ON source.id = follow.source_id
LEFT JOIN retrieval_schedule schedule ON schedule.source_id = source.id
LEFT JOIN LATERAL (
    SELECT published_at FROM postings_posting posting WHERE posting.source_id = source.id
    ORDER BY published_at DESC, id DESC LIMIT 1
) newest ON true
LEFT JOIN LATERAL (
    SELECT outcome, status, message FROM retrieval_retrieval retrieval
    WHERE retrieval.source_id = source.id AND schedule.consecutive_failures > 0 ORDER BY fetched_at DESC LIMIT 1
) latest ON true
WHERE follow.user_id = %s
) health ORDER BY state = 'active', failures DESC, lower(title), source_id LIMIT %s OFFSET %s
"""


def health_of_followed(user: User, *, start: int, limit: int) -> list[Health]:
    """The sources that the user follows, failing ones first. One query."""
    return fetch_as(Health, _HEALTH, [user.pk, limit, start])
