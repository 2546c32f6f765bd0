"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.stories import actions

LONGEST_PULL = 20.0  # s; what is left then is the next message's


@shared_task
def pull(**_: Any) -> None:
    until = time.monotonic() + LONGEST_PULL
    while time.monotonic() < until:
        pulled = actions.pull(wait=False)
        if pulled is None or pulled.looked_at < actions.PULLED_AT_ONCE:
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
