"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task

from apps.database.outbox import run_batches
from apps.jobs.actions.periodic import task_of
from apps.summaries import actions

count_terms = task_of("apps.summaries.tasks.count_terms", actions.count_terms)


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.consume, actions.CONSUMED_AT_ONCE))
