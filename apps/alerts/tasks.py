"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.alerts import actions, queries
from apps.alerts.actions import delivering
from apps.jobs.actions.periodic import task_of

MAX_SECONDS = 20.0  # the next message continues

forget_old_hits = task_of("apps.alerts.tasks.forget_old_hits", actions.forget_old_hits)
retry_deliveries = task_of("apps.alerts.tasks.retry_deliveries", delivering.send_due)
forget_old_messages = task_of("apps.alerts.tasks.forget_old_messages", delivering.forget_old)
weigh_all = task_of("apps.alerts.tasks.weigh_all", actions.weigh_all)
prepare_all = task_of("apps.alerts.tasks.prepare_all", actions.prepare_all, timed=False)


@shared_task
def consume(**_: Any) -> None:
    """Index searches, then match postings: a search finds every posting that comes after it was saved."""
    until = time.monotonic() + MAX_SECONDS
    while time.monotonic() < until:
        prepared = actions.prepare(wait=False)
        matched = actions.match(wait=False, now=now())
        if prepared is None or matched is None:
            return
        if prepared < actions.PREPARE_BATCH and matched < actions.MATCH_BATCH:
            return


@shared_task
def deliver(message_id: int, **_: Any) -> None:
    delivering.deliver(message_id, now=now())


@shared_task
def weigh(**_: Any) -> None:
    """Update the interest of sources from saved searches, within a minute of a change."""
    actions.profile_sources(queries.interest.unread_sources(now(), actions.PROFILE_BATCH), now=now())
    while actions.weigh():
        pass
    actions.raise_interests()
