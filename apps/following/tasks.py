"""Celery tasks."""

from datetime import UTC, datetime
from typing import Any

from celery import shared_task

from apps.following import actions


@shared_task
def forget_undo(**_: Any) -> None:
    actions.forget_undo(now=datetime.now(UTC))


@shared_task
def advance_all(**_: Any) -> None:
    actions.advance_all(now=datetime.now(UTC))
