"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.summaries import actions

MAX_RUN_SECONDS = 20.0


@shared_task
def consume(**_: Any) -> None:
    run_batches(actions.consume, actions.CONSUMED_AT_ONCE, until=time.monotonic() + MAX_RUN_SECONDS)


@shared_task
def count_terms(**_: Any) -> None:
    actions.count_terms(now())
