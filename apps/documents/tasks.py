"""Celery tasks."""

from datetime import UTC, datetime
from typing import Any

from celery import shared_task

from apps.documents import actions


@shared_task
def tidy_documents(**_: Any) -> None:
    actions.forget_expired(now=datetime.now(UTC))
    actions.sweep(now=datetime.now(UTC))


@shared_task
def scrub(**_: Any) -> None:
    actions.scrub(now=datetime.now(UTC))
