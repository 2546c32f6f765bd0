"""Doorways for Celery: each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.feed_health import actions


@shared_task
def look(**_: Any) -> None:
    """Until nothing more is to be told, or somebody else is at it; then mail what people want by mail."""
    while (looked := actions.look(now=now())) is not None and looked.told:
        pass
    actions.mail(now=now())


@shared_task
def forget_old(**_: Any) -> None:
    actions.forget_old(now=now())
