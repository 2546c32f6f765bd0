"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task

from apps.search import actions

MAX_SECONDS = 20.0  # the next message continues


@shared_task
def consume(**_: Any) -> None:
    until = time.monotonic() + MAX_SECONDS
    while time.monotonic() < until:
        consumed = actions.consume(wait=False)
        if consumed is None or consumed.changes < actions.CONSUMED_AT_ONCE:
            return


@shared_task
def maintain(**_: Any) -> None:
    actions.maintain()


@shared_task
def learn_spelling(**_: Any) -> None:
    actions.learn_spelling()


@shared_task
def note_missed(**_: Any) -> None:
    actions.note_missed()
