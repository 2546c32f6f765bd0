"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.summaries import actions

LONGEST_PULL = 20.0  # s; what is left then is the next message's


@shared_task
def pull(**_: Any) -> None:
    until = time.monotonic() + LONGEST_PULL
    while time.monotonic() < until and actions.pull(wait=False) == actions.PULLED_AT_ONCE:
        pass


@shared_task
def count_terms(**_: Any) -> None:
    actions.count_terms(now())
