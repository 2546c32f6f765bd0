"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.summaries import actions

MAX_RUN_SECONDS = 20.0  # the next task consumes the rest


@shared_task
def consume(**_: Any) -> None:
    until = time.monotonic() + MAX_RUN_SECONDS
    while time.monotonic() < until and actions.consume(wait=False) == actions.CONSUMED_AT_ONCE:
        pass


@shared_task
def count_terms(**_: Any) -> None:
    actions.count_terms(now())
