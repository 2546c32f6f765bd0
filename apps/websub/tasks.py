"""Celery tasks; each calls one action."""

from datetime import UTC, datetime
from typing import Any

from celery import shared_task

from apps.jobs.actions.periodic import task_of
from apps.websub import actions, queries


@shared_task
def work(delivery_id: int, **_: Any) -> None:
    actions.work(delivery_id, now=datetime.now(UTC))


@shared_task
def retry_deliveries(**_: Any) -> None:
    for delivery_id in queries.left_behind(datetime.now(UTC)):
        actions.work(delivery_id, now=datetime.now(UTC))


maintain_subscriptions = task_of("apps.websub.tasks.maintain_subscriptions", actions.maintain)
forget_old_deliveries = task_of("apps.websub.tasks.forget_old_deliveries", actions.forget_old)
