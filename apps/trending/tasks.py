"""Celery tasks; each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.trending import actions

MAX_COUNT_SECONDS = 40.0  # the next message continues


@shared_task
def count(**_: Any) -> None:
    """Count changed postings, and update slices."""
    until = time.monotonic() + MAX_COUNT_SECONDS
    while time.monotonic() < until and actions.count(wait=False) == actions.COUNTED_AT_ONCE:
        pass
    while time.monotonic() < until and actions.slice_stale(wait=False) == actions.SLICED_AT_ONCE:
        pass


@shared_task
def refresh(horizons: list[str], **_: Any) -> None:
    actions.refresh(horizons, now())


@shared_task
def prune(**_: Any) -> None:
    actions.prune(now())
