"""Celery tasks; each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.jobs.actions.periodic import task_of
from apps.stories import actions

maintain = task_of("apps.stories.tasks.maintain", actions.maintaining.maintain)
weigh_sources = task_of("apps.stories.tasks.weigh_sources", actions.maintaining.weigh_sources)
label_trends = task_of("apps.stories.tasks.label_trends", actions.maintaining.label_trends, timed=False)


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.consuming.consume, actions.consuming.CONSUMED_AT_ONCE))


@shared_task
def learn(**_: Any) -> None:
    while actions.learning.learn(now=now()):
        pass
