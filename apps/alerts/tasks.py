"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.alerts import queries
from apps.alerts.actions import delivering, matching, weighing
from apps.database.time_limits import within
from apps.jobs.actions.periodic import task_of

MAX_SECONDS = 20.0  # the next message continues

forget_old_hits = task_of("apps.alerts.tasks.forget_old_hits", matching.forget_old_hits)
retry_deliveries = task_of("apps.alerts.tasks.retry_deliveries", delivering.send_due)
forget_old_messages = task_of("apps.alerts.tasks.forget_old_messages", delivering.forget_old)
weigh_all = task_of("apps.alerts.tasks.weigh_all", weighing.weigh_all)
prepare_all = task_of("apps.alerts.tasks.prepare_all", matching.prepare_all, timed=False)


@shared_task
def consume(**_: Any) -> None:
    """Index searches, then match postings: a search finds every posting that comes after it was saved."""
    may_go_on = within(MAX_SECONDS)
    while may_go_on():
        prepared = matching.prepare(wait=False)
        matched = matching.match(wait=False, now=now())
        if prepared is None or matched is None:
            return
        if prepared < matching.PREPARE_BATCH and matched < matching.MATCH_BATCH:
            return


@shared_task
def deliver(message_id: int, **_: Any) -> None:
    delivering.deliver(message_id, now=now())


@shared_task
def weigh(**_: Any) -> None:
    """Update the interest of sources from saved searches: within a minute of a change, and each ten minutes."""
    is_due = weighing.begin_raising()
    if is_due:
        weighing.profile_sources(queries.interest.unread_sources(now(), weighing.PROFILE_BATCH), now=now())
    while weighing.weigh():
        is_due = True
    if is_due:
        weighing.raise_interests()
