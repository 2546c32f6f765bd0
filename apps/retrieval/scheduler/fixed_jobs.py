"""The fixed jobs of beat, from django-celery-beat's tables; see `beat`."""

import logging
import time
from typing import Any

import psycopg
from celery.beat import SchedulingError
from celery.schedules import schedule
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry
from kombu.utils.uuid import uuid

from apps.jobs.actions import outstanding

logger = logging.getLogger(__name__)

READ_EVERY = 5.0  # s between two checks whether an administrator has changed a job
# Unless another leader has run the job since the latest run that we know of.
NOTE_RUN = """
UPDATE django_celery_beat_periodictask SET last_run_at = %s, total_run_count = total_run_count + 1
WHERE id = %s AND enabled AND (last_run_at IS NULL OR last_run_at <= %s)
"""
FORGET_RUN = "UPDATE django_celery_beat_periodictask SET last_run_at = %s WHERE id = %s AND last_run_at = %s"


class FixedJobs(DatabaseScheduler):
    """Sends a job's message when it is due, unless there is nothing to do or another beat has sent it."""

    _heap_invalidated: bool = False  # jobs were read again
    _next_reading = 0.0  # monotonic s
    _changed: tuple[Any, ...] | None = None  # when a job was changed last
    _work: dict[str, bool] | None = None  # whether tasks have some, in this turn

    def _connect(self) -> psycopg.Connection[Any]:
        raise NotImplementedError

    def schedule_changed(self) -> bool:
        """Whether an administrator has changed a job."""
        if time.monotonic() < self._next_reading:
            return False
        self._next_reading = time.monotonic() + READ_EVERY
        changed = self._connect().execute("SELECT max(last_update) FROM django_celery_beat_periodictasks").fetchone()
        before, self._changed = self._changed, changed
        return before is not None and changed != before

    def schedules_equal(self, *args: Any, **kwargs: Any) -> bool:
        """Whether no job was read again; comparing all of them would take most of a tick."""
        is_changed, self._heap_invalidated = self._heap_invalidated, False
        return not is_changed

    def _has_work(self, task: str) -> bool:
        """Whether a fixed job is to be sent: some are only while a statement finds a row, read once a turn."""
        statements = self.app.conf.get("work_of_tasks", {})
        if task not in statements:
            return True
        if self._work is None:
            columns = ", ".join(f"EXISTS ({statement})" for statement in statements.values())
            [found] = self._connect().execute(f"SELECT {columns}")
            self._work = dict(zip(statements, found, strict=True))
        return self._work[task]

    def reserve(self, entry: ModelEntry) -> ModelEntry:
        return next(entry)

    def sync(self) -> None:
        """Nothing is left to write: each run is recorded when it begins."""

    def apply_entry(self, entry: ModelEntry, producer: Any = None) -> None:
        """Send a fixed job's message, unless one is outstanding, or another beat has sent it since `entry` was read.

        The run is recorded first: a beat that hangs in between sends it late, and no other beat does. Jobs with a
        crontab are rare and must not be skipped when a worker was lost: they are always sent.
        """
        if not self._has_work(entry.task):
            return
        token = uuid() if type(entry.schedule) is schedule else ""
        if token and not outstanding.reserve(entry.name, token):
            return
        connection, row, known = self._connect(), entry.model, entry.last_run_at
        if not connection.execute(NOTE_RUN, [row.last_run_at, row.pk, known]).rowcount:
            logger.info("%s: another beat has sent it", entry.name)
            outstanding.release(entry.name, token)
            return
        if token:
            headers = (entry.options.get("headers") or {}) | {outstanding.HEADER: [entry.name, token]}
            entry.options = entry.options | {"headers": headers}
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError:
            outstanding.release(entry.name, token)
            connection.execute(FORGET_RUN, [known, row.pk, row.last_run_at])
            row.last_run_at = known
            raise

    def _ensure_connected(self) -> Any:
        # The default of minutes would make a standby consider this beat hung.
        return self.connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
