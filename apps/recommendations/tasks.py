"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.recommendations import actions

MAX_SECONDS = 60.0  # s; what is left then is the next message's


@shared_task
def learn_likenesses(**_: Any) -> None:
    actions.learn_likenesses()


@shared_task
def measure_growth(**_: Any) -> None:
    actions.measure_growth(now=now())


@shared_task
def match(**_: Any) -> None:
    """Read what sources write, then compare it with what people read."""
    until = time.monotonic() + MAX_SECONDS
    while actions.sketch_sources(now=now()) and time.monotonic() < until:
        pass
    while time.monotonic() < until and actions.match_people(now=now()):
        pass
