"""Celery tasks; each calls one action."""

from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.database.outbox import run_batches
from apps.stories import actions


@shared_task
def consume(**_: Any) -> None:
    run_batches((actions.consume, actions.CONSUMED_AT_ONCE))


@shared_task
def maintain(**_: Any) -> None:
    actions.maintain(now=now())


@shared_task
def label_trends(**_: Any) -> None:
    actions.label_trends()


@shared_task
def learn(**_: Any) -> None:
    while actions.learn(now=now()):
        pass


@shared_task
def weigh_sources(**_: Any) -> None:
    actions.weigh_sources(now=now())
