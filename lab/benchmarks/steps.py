"""Workers that count the CPU time of each task and of the steps of a retrieval: `celery -A lab.benchmarks.steps`.

Each counts the time of the thread that does it and of the thread's Postgres session (Linux), without the steps inside
it. They write lines to the file that LAB_STEPS names.
"""

import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

from celery import Task
from celery.app.utils import find_app
from celery.signals import task_postrun, task_prerun, worker_init
from django.db import connection

__all__ = ["VARIABLE", "Step", "Used", "app", "read_steps", "used"]

app = find_app("portal")

VARIABLE = "LAB_STEPS"
NANOSECONDS = 1e-9


class Used(NamedTuple):
    """Seconds of CPU."""

    worker: float
    postgres: float

    def less(self, other: Self) -> "Used":
        return Used(max(self.worker - other.worker, 0.0), max(self.postgres - other.postgres, 0.0))

    def more(self, other: "Used") -> "Used":
        return Used(self.worker + other.worker, self.postgres + other.postgres)


class Step(NamedTuple):
    """A line of the file."""

    name: str
    at: float  # s since the epoch, when it ended
    worker: float  # s of CPU
    postgres: float  # s of CPU


class _Here(threading.local):
    """What a thread is doing."""

    inside = Used(0.0, 0.0)  # by the steps inside the present one
    task: AbstractContextManager[None] | None = None


_here = _Here()


def used() -> Used:
    return Used(time.thread_time(), _of_session())


def _of_session() -> float:
    """CPU seconds of this thread's Postgres session, 0 without one."""
    if connection.connection is None or connection.connection.closed:
        return 0.0
    try:
        statistics = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return int(statistics.split()[0]) * NANOSECONDS


@contextmanager
def _counted(name: str) -> Iterator[None]:
    around, _here.inside = _here.inside, Used(0.0, 0.0)
    before = used()
    try:
        yield
    finally:
        whole = used().less(before)
        own = whole.less(_here.inside)
        _here.inside = around.more(whole)
        line = json.dumps(Step(name, time.time(), *own)) + "\n"
        with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as file:
            file.write(line)


def _count_calls(module: ModuleType, function: str, name: str) -> None:
    do: Callable[..., object] = getattr(module, function)

    @functools.wraps(do)
    def counted(*args: Any, **kwargs: Any) -> object:
        with _counted(name):
            return do(*args, **kwargs)

    setattr(module, function, counted)


def _begin(task: Task, **_: object) -> None:
    _here.task = _counted(task.name.removeprefix("apps.").replace(".tasks.", "."))
    _here.task.__enter__()


def _end(**_: object) -> None:
    if _here.task is not None:
        _here.task.__exit__(None, None, None)
        _here.task = None


def _count_steps(**_: object) -> None:
    from apps.postings import actions as postings  # noqa: PLC0415 - the worker sets up Django first
    from apps.retrieval import actions as retrieval  # noqa: PLC0415
    from apps.retrieval.worker import engine  # noqa: PLC0415

    for module, function, name in (
        (retrieval, "start", "retrieval: begin"),
        (engine, "decide", "retrieval: parse"),
        (engine, "store", "retrieval: transaction, documents"),
        (retrieval, "store", "retrieval: plan and log"),
        (postings, "store", "retrieval: store postings"),
    ):
        _count_calls(module, function, name)


if VARIABLE in os.environ:  # this is the app of a worker
    task_prerun.connect(_begin)
    task_postrun.connect(_end)
    worker_init.connect(_count_steps)


def read_steps(file: Path) -> Sequence[Step]:
    with file.open(encoding="utf-8") as lines:
        return [Step(*json.loads(line)) for line in lines]
