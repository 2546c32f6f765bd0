"""Celery tasks; each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.trending import actions

MAX_COUNT_SECONDS = 40.0


@shared_task
def count(**_: Any) -> None:
    """Count changed postings, and update slices."""
    until = time.monotonic() + MAX_COUNT_SECONDS
    run_batches(actions.count, actions.COUNTED_AT_ONCE, until=until)
    run_batches(actions.slice_stale, actions.SLICED_AT_ONCE, until=until)


@shared_task
def refresh(horizons: list[str], **_: Any) -> None:
    actions.refresh(horizons, now())


@shared_task
def prune(**_: Any) -> None:
    actions.prune(now())
