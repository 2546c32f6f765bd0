"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.account_data import actions
from apps.database.time_limits import within

MAX_SECONDS = 20.0  # the next message does the rest


@shared_task
def settle(**_: Any) -> None:
    """Apply waiting lines of archives whose postings have arrived."""
    may_go_on = within(MAX_SECONDS)
    while actions.settle(now=now()) == actions.SETTLED_AT_ONCE and may_go_on():
        pass
