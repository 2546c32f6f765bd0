"""Doorways for Celery. Messages only wake workers up: what there is to do stands in rows.

A worker process works on one split at a time, since such work keeps a core busy and others of its threads have readers
and sources waiting. So messages that reach a process which is at it already are nothing to it.
"""

from threading import Lock
from typing import Any

from celery import Task, shared_task

from apps.jobs import actions, queries
from apps.jobs.actions import outstanding, working

MAX_TURN_SECONDS = 60.0  # s; then other messages have their turn
WOKEN_AT_ONCE = 8  # workers
WOKEN_FOR = 5.0  # s; then a message that no worker took is not needed any more: more were sent

_at_work = Lock()


@shared_task(bind=True)
def work(self: Task, **_: Any) -> None:
    if not _at_work.acquire(blocking=False):
        return
    try:
        more = working.work(f"{self.request.hostname or ''} {working.worker_name()}".strip(), seconds=MAX_TURN_SECONDS)
    finally:
        _at_work.release()
    if more:
        work.apply_async(expires=WOKEN_FOR)


@shared_task
def advance(**_: Any) -> None:
    """Bring all jobs up to date, and wake workers for what is open."""
    actions.advance_all()
    for number in range(queries.open_splits(WOKEN_AT_ONCE)):
        outstanding.send(work, f"work {number}")


@shared_task
def forget_old(**_: Any) -> None:
    actions.forget_old()
