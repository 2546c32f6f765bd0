"""Doorways for Celery: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.account_data import actions

MAX_SECONDS = 20.0  # s; what is left then is the next message's


@shared_task
def settle(**_: Any) -> None:
    """Do what lines of archives say, whose postings have come."""
    until = time.monotonic() + MAX_SECONDS
    while actions.settle(now=now()) == actions.SETTLED_AT_ONCE and time.monotonic() < until:
        pass
