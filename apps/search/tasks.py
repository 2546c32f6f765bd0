"""Celery tasks: each calls one action."""

from typing import Any

from celery import shared_task

from apps.database.outbox import run_batches
from apps.jobs.actions.periodic import task_of
from apps.search import actions

maintain = task_of("apps.search.tasks.maintain", actions.segment_building.maintain, timed=False)
learn_spelling = task_of("apps.search.tasks.learn_spelling", actions.dictionary.learn_spelling, timed=False)
note_missed = task_of("apps.search.tasks.note_missed", actions.reindexing.note_missed, timed=False)


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.reindexing.consume, actions.reindexing.CONSUMED_AT_ONCE))
