"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task

from apps.search import actions

MAX_PULL_SECONDS = 20.0  # s; what is left then is the next message's


@shared_task
def consume(**_: Any) -> None:
    until = time.monotonic() + MAX_PULL_SECONDS
    while time.monotonic() < until:
        pulled = actions.consume(wait=False)
        if pulled is None or pulled.looked_at < actions.CONSUMED_AT_ONCE:
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
