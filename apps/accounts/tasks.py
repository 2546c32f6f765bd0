"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.accounts import actions


@shared_task
def purge_sessions(**_: Any) -> None:
    actions.purge_sessions(now=now())
