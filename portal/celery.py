"""Celery's app and its periodic tasks. Due times of sources are in `Schedule.due_at`."""

import os
import threading
import time
import tomllib
from collections import deque
from pathlib import Path
from typing import Any

from celery import Celery, Task, beat
from celery.app import backends
from celery.schedules import crontab
from celery.signals import before_task_publish, task_postrun, task_prerun, worker_shutting_down
from django.db import close_old_connections, connection

from apps.database import counters
from apps.database.time_limits import BUSY_TASKS, RARE_SECONDS, stopping
from portal.launcher import processes

RETURN_SECONDS = 60.0  # between two returns of freed memory, which take a tenth of a millisecond and more

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# Django's checks import all pages, which takes each process 0.7 s and 22 MB. `manage.py check` makes them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
# Celery would look for short names of backends and schedulers in the metadata of all packages: 4 MB of each process.
backends.load_extension_class_names = beat.load_extension_class_names = lambda _namespace: ()

app = Celery("wirebeat", task_cls="apps.jobs.actions.dead_letters:CountedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# A busy thread keeps its connection to Postgres, as in the web server. By default Celery closes it before and after
# each task, and a new one costs more CPU than most tasks.
app.conf["CELERY_DB_REUSE_MAX"] = 10**12  # tasks until Celery closes a connection
task_prerun.connect(close_old_connections)  # broken ones, and those older than five minutes
worker_shutting_down.connect(lambda **_: stopping.set(), weak=False)  # it waits for its tasks
_of_thread = threading.local()


@before_task_publish.connect
def note_publication(headers: dict[str, Any], **_: Any) -> None:
    headers.setdefault("published_at", time.time())


@task_prerun.connect
def count_waiting(task: Task, **_: Any) -> None:
    _of_thread.begun_at = time.time()
    waited = _of_thread.begun_at - getattr(task.request, "published_at", _of_thread.begun_at)
    counters.observe("task_waiting_seconds", (task.name.removeprefix("apps."),), max(0.0, waited))


@task_postrun.connect
def count_duration(task: Task, state: str | None = None, **_: Any) -> None:
    labels = (task.name.removeprefix("apps."), "failed" if state == "FAILURE" else "done")
    counters.observe("task_seconds", labels, max(0.0, time.time() - _of_thread.begun_at))


@task_postrun.connect
def close_connection_unless_busy(**_: Any) -> None:
    if not hasattr(_of_thread, "ended_at"):
        _of_thread.ended_at = deque[float](maxlen=BUSY_TASKS)
    _of_thread.ended_at.append(time.monotonic())
    is_busy = len(_of_thread.ended_at) == BUSY_TASKS and _of_thread.ended_at[-1] - _of_thread.ended_at[0] < RARE_SECONDS
    if not is_busy and not connection.in_atomic_block:
        connection.close()


class _Returned:
    at = 0.0  # monotonic seconds


@task_postrun.connect
def return_memory(**_: Any) -> None:
    """Return to the kernel what tasks have freed, also what another thread still used the last time."""
    if time.monotonic() > _Returned.at + RETURN_SECONDS:
        _Returned.at = time.monotonic()
        processes.return_freed_memory()


_TABLES = tomllib.loads(Path(__file__).with_name("schedule.toml").read_text("utf-8"))


def _path(task: str) -> str:
    """The name by which Celery knows a task such as `search.consume`."""
    return f"apps.{task.replace('.', '.tasks.')}"


app.conf.beat_schedule = {
    name: {
        "task": _path(entry["task"]),
        "schedule": crontab.from_string(entry["at"]) if "at" in entry else entry["every"],
        "args": entry.get("arguments", ()),
        "options": {"expires": entry["expires"]} if "expires" in entry else {},
    }
    for name, entry in _TABLES["schedule"].items()
}
# The tasks that beat sends only while these statements find a row.
app.conf["work_of_tasks"] = {_path(task): f"SELECT 1 FROM {rows}" for task, rows in _TABLES["rows"].items()}
