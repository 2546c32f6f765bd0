"""Celery tasks; each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.stories import actions

MAX_PULL_SECONDS = 20.0  # the next message continues


@shared_task
def consume(**_: Any) -> None:
    until = time.monotonic() + MAX_PULL_SECONDS
    while time.monotonic() < until:
        pulled = actions.consume(wait=False)
        if pulled is None or pulled.changes < actions.CONSUMED_AT_ONCE:
            return


@shared_task
def maintain(**_: Any) -> None:
    actions.maintain(now=now())


@shared_task
def learn(**_: Any) -> None:
    while actions.learn(now=now()):
        pass


@shared_task
def weigh_sources(**_: Any) -> None:
    actions.weigh_sources(now=now())
