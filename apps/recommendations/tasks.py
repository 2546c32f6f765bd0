"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.recommendations import actions

MAX_SECONDS = 60.0  # the next message continues


@shared_task
def learn_likenesses(**_: Any) -> None:
    actions.learn_likenesses()


@shared_task
def measure_growth(**_: Any) -> None:
    actions.measure_growth(now=now())


@shared_task
def match(**_: Any) -> None:
    """Sketch sources, then match users with them."""
    until = time.monotonic() + MAX_SECONDS
    while actions.sketch_sources(now=now()) and time.monotonic() < until:
        pass
    while time.monotonic() < until and actions.match_people(now=now()):
        pass
