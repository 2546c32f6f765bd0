"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.summaries import actions


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.consume, actions.CONSUMED_AT_ONCE))


@shared_task
def count_terms(**_: Any) -> None:
    actions.count_terms(now())
