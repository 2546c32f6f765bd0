"""Celery tasks; each calls one action."""

from datetime import UTC, datetime
from typing import Any

from celery import shared_task

from apps.websub import actions, queries


@shared_task
def work(delivery_id: int, **_: Any) -> None:
    actions.work(delivery_id, now=datetime.now(UTC))


@shared_task
def work_on_rest(**_: Any) -> None:
    for delivery_id in queries.left_behind(datetime.now(UTC)):
        actions.work(delivery_id, now=datetime.now(UTC))


@shared_task
def maintain_subscriptions(**_: Any) -> None:
    actions.maintain(now=datetime.now(UTC))


@shared_task
def forget_old_deliveries(**_: Any) -> None:
    actions.forget_old(now=datetime.now(UTC))
