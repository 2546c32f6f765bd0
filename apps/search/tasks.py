"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task

from apps.database.outbox import run_batches
from apps.search import actions

MAX_SECONDS = 20.0


@shared_task
def consume(**_: Any) -> None:
    run_batches(actions.consume, actions.CONSUMED_AT_ONCE, until=time.monotonic() + MAX_SECONDS)


@shared_task
def maintain(**_: Any) -> None:
    actions.maintain()


@shared_task
def learn_spelling(**_: Any) -> None:
    actions.learn_spelling()


@shared_task
def note_missed(**_: Any) -> None:
    actions.note_missed()
