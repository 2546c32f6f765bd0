"""Celery tasks. Messages only wake workers up: the work is stored in rows.

A process works on one split at a time, since a split keeps a core busy and the process has other threads. So a message
that reaches a busy process is ignored.
"""

from threading import Lock
from typing import Any

from celery import Task, shared_task

from apps.jobs import actions, queries
from apps.jobs.actions import outstanding, working
from apps.jobs.actions.periodic import task_of

MAX_TURN_SECONDS = 60.0  # after which other messages are processed
MAX_WOKEN = 8  # workers
EXPIRE_SECONDS = 5.0  # of a message that no worker took: later ones follow

forget_old = task_of("apps.jobs.tasks.forget_old", actions.claiming.forget_old, timed=False)
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
        work.apply_async(expires=EXPIRE_SECONDS)


@shared_task
def advance(**_: Any) -> None:
    """Update all jobs, and wake workers for open splits."""
    actions.advancing.advance_all()
    for number in range(queries.open_splits(MAX_WOKEN)):
        outstanding.send(work, f"work {number}")
