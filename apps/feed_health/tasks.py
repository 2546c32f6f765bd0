"""Celery tasks."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.feed_health import actions
from apps.jobs.actions.periodic import task_of


@shared_task
def notify_followers(**_: Any) -> None:
    """Create notices until none is left to create or another worker creates them; then send mails."""
    while any(actions.notify_followers(now=now()).values()):
        pass
    actions.mail(now=now())


forget_old = task_of("apps.feed_health.tasks.forget_old", actions.forget_old)
