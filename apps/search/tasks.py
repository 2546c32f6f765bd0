"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task

from apps.database.outbox import run_batches
from apps.search import actions


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.consume, actions.CONSUMED_AT_ONCE))


@shared_task
def maintain(**_: Any) -> None:
    actions.maintain()


@shared_task
def learn_spelling(**_: Any) -> None:
    actions.learn_spelling()


@shared_task
def note_missed(**_: Any) -> None:
    actions.note_missed()
