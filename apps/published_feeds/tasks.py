"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.published_feeds import actions


@shared_task
def announce(**_: Any) -> None:
    actions.announce_due(now=now())


@shared_task
def forget_unasked(**_: Any) -> None:
    actions.forget_unused(now=now())
