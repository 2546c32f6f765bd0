"""Doorways for Celery: each calls one action."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready, worker_shutdown
from django.conf import settings

from apps.retrieval import actions, engine, queries
from apps.retrieval.claims import Claim

DISPATCHED_FOR = 60.0  # s; then a message that no worker took is not needed any more: another was sent
LONGEST_CRAWL = 60.0  # s; then other sources have their turn


@shared_task(bind=True)
def retrieve(self: Task, claims: Sequence[Sequence[Any]], **_: Any) -> None:
    engine.current().retrieve([Claim(*claim) for claim in claims], worker=self.request.hostname or "")


@shared_task
def dispatch_pages(**_: Any) -> None:
    for source_id in queries.due_crawls(datetime.now(UTC), settings.RETRIEVAL_CRAWLS):
        fetch_pages.apply_async([source_id], expires=DISPATCHED_FOR)


@shared_task
def fetch_pages(source_id: int, **_: Any) -> None:
    until = time.monotonic() + LONGEST_CRAWL
    while time.monotonic() < until and engine.current().take_turn(source_id):
        pass


@shared_task
def adopt_sources(**_: Any) -> None:
    actions.adopt_sources(now=datetime.now(UTC))


@shared_task
def replan_changed(**_: Any) -> None:
    actions.replan_changed(now=datetime.now(UTC))


@shared_task
def control_price(**_: Any) -> None:
    actions.learn_if_due(now=datetime.now(UTC))
    actions.control_price(now=datetime.now(UTC))


@shared_task
def learn_habits(**_: Any) -> None:
    actions.learn_habits(now=datetime.now(UTC))


@shared_task
def forget_old_retrievals(**_: Any) -> None:
    actions.forget_old_retrievals(now=datetime.now(UTC))


@shared_task
def forget_expired_postings(**_: Any) -> None:
    actions.forget_expired(now=datetime.now(UTC))


@worker_ready.connect
def release_own_leases(sender: Any, **_: Any) -> None:
    """A worker of this name was killed, or stopped in the middle: what it had begun is planned again."""
    actions.release_worker(sender.hostname, now=datetime.now(UTC))


@worker_shutdown.connect
def close_connections(**_: Any) -> None:
    engine.stop()
