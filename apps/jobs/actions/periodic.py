"""Tasks that only call one action."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from celery import Task, shared_task


def task_of(name: str, action: Callable[..., object], *, timed: bool = True) -> Task:
    """The task of this name, which calls an action; with the present time as `now` if `timed`."""

    def run(**_: Any) -> None:
        action(**({"now": datetime.now(UTC)} if timed else {}))

    task: Task = shared_task(name=name)(run)
    return task
