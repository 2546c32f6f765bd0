"""Celery tasks; each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.jobs.actions.periodic import task_of
from apps.trending import actions
from apps.trending.queries import ranks

MAX_COUNT_SECONDS = 40.0

prune = task_of("apps.trending.tasks.prune", actions.prune)


@shared_task
def count(**_: Any) -> None:
    """Count changed postings, and update slices."""
    counting, slicing = (actions.count, actions.COUNTED_AT_ONCE), (actions.slice_stale, actions.SLICED_AT_ONCE)
    run_batches(counting, slicing, seconds=MAX_COUNT_SECONDS)
    if not ranks():  # the first lists of a new portal do not wait for their turn
        actions.refresh(["hour", "day"], now())


@shared_task
def refresh(horizons: list[str], **_: Any) -> None:
    actions.refresh(horizons, now())
