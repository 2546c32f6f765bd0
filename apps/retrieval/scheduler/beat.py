"""The scheduler of Celery beat: fixed jobs from django-celery-beat's tables, sources from `Schedule.due_at`.

Sources are not `PeriodicTask` rows, because beat reads all of those again whenever one changes and compares all of them
at each tick. Here a tick claims what is due with one indexed statement, whatever the number of sources.

A claim is committed before its message is published: a worker that is fast would otherwise not see it and drop the
message. What was committed and not begun is published again: by a beat that takes over, after the broker refused
messages, and when the queue is empty although the claims in it are still waiting. What a worker had begun is released
when its heartbeats stop.

The leader holds a Postgres advisory lock; other beats stand by and take over when its connection ends. A leader that
hangs keeps its connection, but sends no statements: then a standby ends that connection, and the lock with it. Should
the former leader wake up in the middle of its work, its claims were rolled back, and each run of a fixed job is
recorded in the job's row before its message is sent, so no two leaders send the same run.
"""

import logging
import select
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import psycopg
from celery.beat import SchedulingError
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from kombu.exceptions import ChannelError
from kombu.exceptions import OperationalError as BrokerError
from kombu.utils.uuid import uuid
from psycopg.rows import class_row

from apps.database.backoff import backoff
from apps.retrieval.algorithms.cam.scheduling import urgency
from apps.retrieval.scheduler.claims import (
    BACKOFF_SECONDS,
    IMMEDIATE_ATTEMPTS,
    LEASE,
    MAX_BACKOFF_SECONDS,
    MAX_SILENCE_SECONDS,
    Claim,
)
from apps.retrieval.scheduler.fixed_jobs import FixedJobs
from apps.retrieval.scheduler.queues import queue_of, retrieval_queues

logger = logging.getLogger(__name__)

TASK = "apps.retrieval.tasks.retrieve"
CHANNEL = "retrieval_schedule"  # a NOTIFY on it: a due time nearer than MAX_WAIT_SECONDS was planned
LEADERSHIP = 0x57495245  # the advisory lock's number: "WIRE"
CLAIM_SIZE = 2_000  # sources
MESSAGE_SIZE = 25
MIN_WAIT_SECONDS = 0.1  # between two claims: sources that become due meanwhile share messages
MAX_WAIT_SECONDS = 2.0  # the leader sends a statement at least this often
STANDBY_WAIT = 1.0  # s
LEADER_SILENCE = 3.0  # s without a statement after which a leader counts as hung
CHECK_EVERY = 2.0  # s between two searches for silent workers and lost messages
FIXED_TURN_SECONDS = 0.5  # from one turn of fixed jobs to the next, at least
LOST_AFTER = 3.0  # s after which a claim that waits although its queue is empty has lost its message
MAX_JUMP_SECONDS = 2.0  # s by which this machine's clock may be corrected without reloading jobs
TRY_AGAIN = 1.0  # s after Postgres or the broker did not answer

# The names of columns are those of `Due`.
_DUE = """schedule.source_id, schedule.sequence, schedule.partition,
    extract(epoch FROM schedule.first_due_at)::float8 AS due_at,
    extract(epoch FROM schedule.dispatched_at)::float8 AS dispatched_at, schedule.worth,
    schedule.observed_at IS NULL AND schedule.consecutive_failures = 0 AS is_first"""
# `statement_timestamp()` is stable, so the index serves the condition; `clock_timestamp()` would scan all of it.
CLAIM = f"""
WITH due AS MATERIALIZED (
    SELECT source_id, due_at FROM retrieval_schedule WHERE due_at <= statement_timestamp()
    ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED)
UPDATE retrieval_schedule schedule
SET due_at = clock_timestamp() + %s, first_due_at = coalesce(schedule.first_due_at, due.due_at),
    sequence = sequence + 1, dispatched_at = clock_timestamp(), worker = ''
FROM due WHERE schedule.source_id = due.source_id
RETURNING {_DUE}
"""
# Claims that no worker has begun, in pages of one key.
UNBEGUN = f"""
SELECT {_DUE} FROM retrieval_schedule schedule
WHERE dispatched_at <= statement_timestamp() - make_interval(secs => %s) AND source_id > %s
ORDER BY source_id LIMIT %s
"""
# A source that several workers had begun when they ended may be the reason: it is retried with back-off.
RELEASE_SILENT = """
UPDATE retrieval_schedule schedule
SET due_at = clock_timestamp() + CASE WHEN attempts < %(immediate)s THEN interval '0'
        ELSE make_interval(secs => (%(delays)s::float8[])[least(attempts - %(immediate)s + 1, %(last)s)]) END,
    sequence = sequence + 1, worker = '', reason = 'its worker stopped'
WHERE worker <> '' AND due_at IS NOT NULL
    -- A server that has just started could not receive heartbeats.
    AND pg_postmaster_start_time() < statement_timestamp() - make_interval(secs => %(silence)s)
    AND NOT EXISTS (
    SELECT FROM retrieval_worker alive WHERE alive.name = schedule.worker
        AND alive.seen_at > statement_timestamp() - make_interval(secs => %(silence)s))
"""
RELEASE_DELAYS = [backoff(failures, BACKOFF_SECONDS, MAX_BACKOFF_SECONDS) for failures in range(1, 11)]
RELEASE_VALUES = {
    "immediate": IMMEDIATE_ATTEMPTS,
    "delays": RELEASE_DELAYS,
    "last": len(RELEASE_DELAYS),
    "silence": MAX_SILENCE_SECONDS,
}
UNTIL_NEXT = """
SELECT extract(epoch FROM min(due_at) - clock_timestamp())::float8 FROM retrieval_schedule WHERE due_at IS NOT NULL
"""
# Only a session that waits for its client: a session at work sends nothing either, but its client is not hung.
END_HUNG_LEADER = """
SELECT pg_terminate_backend(session.pid, 500)  -- ms that it is waited for
FROM pg_locks held JOIN pg_stat_activity session ON session.pid = held.pid AND session.datid = held.database
WHERE held.locktype = 'advisory' AND session.datname = current_database() AND held.classid = 0 AND held.objid = %s
    AND held.granted AND session.state <> 'active'
    AND clock_timestamp() - session.state_change > make_interval(secs => %s)
"""
# The clock of the leader that recorded it was ahead, or ours was set back: until then the job would not run.
NOT_YET = "UPDATE django_celery_beat_periodictask SET last_run_at = %s WHERE last_run_at > %s"


class Due(NamedTuple):
    source_id: int
    sequence: int
    partition: int
    due_at: float  # s since the epoch, for the first time
    dispatched_at: float
    worth: float = 1.0  # the source's weight
    is_first: bool = False  # neither observed nor failed before

    @property
    def urgency(self) -> float:
        return urgency(self.worth, self.dispatched_at - self.due_at)

    def claim(self) -> Claim:
        return Claim(self.source_id, self.sequence, self.due_at, self.dispatched_at)


class Message(NamedTuple):
    queue: str
    claims: list[Claim]
    first: bool = False  # of sources that were never retrieved


def messages(due: Iterable[Due], queues: int = 1) -> Iterator[Message]:
    """Group claimed sources into few messages; a site's sources, which lie in one partition, go to one worker.

    Of sources that are due together, those with the highest urgency go first. First retrievals have their own queues.
    """
    by_partition: dict[tuple[int, bool], list[Claim]] = defaultdict(list)
    for row in sorted(due, key=lambda row: (-row.urgency, row.due_at)):
        by_partition[row.partition, row.is_first].append(row.claim())
    filling: dict[str, Message] = {}  # the message of each queue that partitions still go into
    for (partition, is_first), claims in by_partition.items():
        queue = queue_of(partition, queues, first=is_first)
        for start in range(0, len(claims), MESSAGE_SIZE):
            piece = claims[start : start + MESSAGE_SIZE]
            message = filling.setdefault(queue, Message(queue, [], is_first))
            if len(message.claims) + len(piece) > MESSAGE_SIZE:
                yield message
                filling[queue] = message = Message(queue, [], is_first)
            message.claims.extend(piece)
    yield from filling.values()


class RetrievalScheduler(FixedJobs):
    """Celery beat's scheduler; see the module."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._connection: psycopg.Connection[Any] | None = None
        self._leads = False
        self._next_fixed_tick = 0.0  # monotonic s
        self._next_claim = 0.0  # monotonic s
        self._next_check = 0.0  # monotonic s
        self._must_republish = True  # claims may have been committed and not published
        self._clock_began = _clock_began()
        super().__init__(*args, **kwargs)
        broker = self.app.connection_for_write()
        self._broker_errors = (*broker.connection_errors, *broker.channel_errors)  # of its transport, not of kombu

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Dispatch what is due, then wait for the next due time or a notification of a nearer one; returns 0."""
        try:
            connection = self._connect()
            if not self._lead(connection):
                _is_notified(connection, STANDBY_WAIT)
                return 0
            began = time.monotonic()
            self._check_claims(connection)
            if began >= self._next_claim:
                self._dispatch_due(connection)  # fails if the connection was ended, and the lock with it
                self._next_claim = time.monotonic() + min(self._until_next(connection), MAX_WAIT_SECONDS)
            self._check_clock(connection)
            self._tick_fixed_jobs(*args, **kwargs)
            wait = min(self._next_fixed_tick, self._next_claim) - time.monotonic()
            is_nearer = _is_notified(connection, wait)
            time.sleep(max(began + MIN_WAIT_SECONDS - time.monotonic(), 0))
            if _is_notified(connection) or is_nearer:  # one tick serves all notifications that arrived meanwhile
                self._next_claim = 0.0
        except (psycopg.Error, DatabaseError, InterfaceError) as error:
            logger.warning("beat lost Postgres and tries again: %s", error)
            self._disconnect()
            connections["default"].close()  # that of the fixed jobs, which may be broken, too
            time.sleep(TRY_AGAIN)
        except (BrokerError, SchedulingError, *self._broker_errors) as error:
            logger.warning("beat lost the broker and tries again: %s", error)
            self._forget_broker()
            self._must_republish = True
            self._heap = None  # the job that could not be sent was taken from it
            self._next_fixed_tick = 0.0
            time.sleep(TRY_AGAIN)
        return 0

    def close(self) -> None:
        self._disconnect()
        super().close()

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            parameters = connections["default"].get_connection_params()
            for name in ("context", "cursor_factory"):  # Django's own adapters; plain rows are wanted here
                parameters.pop(name, None)
            parameters |= {"autocommit": True, "prepare_threshold": 1}
            self._connection = psycopg.connect(**parameters)
            # A claim lost in a crash is simply claimed again, so it need not wait for the disk.
            self._connection.execute("SET synchronous_commit = off")
            self._connection.execute(f"LISTEN {CHANNEL}")
        return self._connection

    def _disconnect(self) -> None:
        self._leads = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _forget_broker(self) -> None:
        """Let the next message make a new connection: this one may be broken half-way."""
        self.__dict__.pop("producer", None)
        if connection := self.__dict__.pop("connection", None):
            with suppress(Exception):
                connection.release()

    def _lead(self, connection: psycopg.Connection[Any]) -> bool:
        if not self._leads:
            self._leads = _take_lock(connection)
            if not self._leads and connection.execute(END_HUNG_LEADER, [LEADERSHIP, LEADER_SILENCE]).fetchone():
                logger.warning("the leading beat has been silent for %g s; its connection was ended", LEADER_SILENCE)
                self._leads = _take_lock(connection)
            if self._leads:
                logger.info("beat leads")
                self._must_republish = True
                self._reload_jobs(connection)
        return self._leads

    def _reload_jobs(self, connection: psycopg.Connection[Any]) -> None:
        """Read again when each fixed job ran last: another beat has led since, or the clock was set."""
        now = datetime.now(UTC)
        connection.execute(NOT_YET, [now, now])
        self._clock_began = _clock_began()
        self._initial_read, self._heap, self._next_fixed_tick = True, None, 0.0

    def _check_clock(self, connection: psycopg.Connection[Any]) -> None:
        """Fixed jobs follow this machine's clock, also after it was set."""
        if abs(jump := _clock_began() - self._clock_began) > MAX_JUMP_SECONDS:
            logger.warning("this machine's clock was set by %+.0f s", jump)
            self._reload_jobs(connection)

    def _tick_fixed_jobs(self, *args: Any, **kwargs: Any) -> None:
        """Send all fixed jobs that are due; jobs that fall due soon after share the next turn."""
        if time.monotonic() < self._next_fixed_tick:
            return
        self._work = None
        until = time.monotonic() + MIN_WAIT_SECONDS
        while not (wait := min(super().tick(*args, **kwargs), MAX_WAIT_SECONDS)) and time.monotonic() < until:
            pass
        self._next_fixed_tick = time.monotonic() + (wait and max(wait, FIXED_TURN_SECONDS))
        connections["default"].close()  # used by the fixed jobs alone, and rarely

    # --- sources ------------------------------------------------------------------------------------------------------
    def _dispatch_due(self, connection: psycopg.Connection[Any]) -> None:
        """Claim until nothing is due; publish each batch after its commit, so that workers see the claims."""
        while True:
            due = connection.cursor(row_factory=class_row(Due)).execute(CLAIM, [CLAIM_SIZE, LEASE]).fetchall()
            self._publish_all(due)
            if len(due) < CLAIM_SIZE:
                return

    def _publish_all(self, due: Iterable[Due]) -> None:
        for message in messages(due, settings.RETRIEVAL_QUEUES):
            self._publish(message)

    def _check_claims(self, connection: psycopg.Connection[Any]) -> None:
        """Release the sources of silent workers, and publish claims again whose messages are lost or were never sent.

        A second message of a claim is harmless: one of them begins it, the other matches no row.
        """
        if self._must_republish:
            self._republish(connection, min_age=0.0, queues=None)
            self._must_republish = False
        if time.monotonic() < self._next_check:
            return
        self._next_check = time.monotonic() + CHECK_EVERY
        if released := connection.execute(RELEASE_SILENT, RELEASE_VALUES).rowcount:
            logger.warning(
                "%d sources were released: their workers have sent no heartbeat for %g s", released, MAX_SILENCE_SECONDS
            )
        if connection.execute(UNBEGUN, [LOST_AFTER, 0, 1]).fetchone():
            empty = {queue for queue in retrieval_queues(settings.RETRIEVAL_QUEUES) if self._is_empty(queue)}
            if empty:
                self._republish(connection, min_age=LOST_AFTER, queues=empty)

    def _republish(self, connection: psycopg.Connection[Any], *, min_age: float, queues: set[str] | None) -> None:
        """Publish claims again that no worker has begun, of some queues or of all."""
        latest = published = 0
        while True:
            cursor = connection.cursor(row_factory=class_row(Due))
            unbegun = cursor.execute(UNBEGUN, [min_age, latest, CLAIM_SIZE]).fetchall()
            for message in messages(unbegun, settings.RETRIEVAL_QUEUES):
                if queues is None or message.queue in queues:
                    self._publish(message)
                    published += len(message.claims)
            if len(unbegun) < CLAIM_SIZE:
                break
            latest = unbegun[-1].source_id
        if published:
            logger.warning("%d claims that no worker had begun were published again", published)

    def _is_empty(self, queue: str) -> bool:
        """Whether no message waits in a queue; in Valkey an empty queue does not exist."""
        with self.connection.channel() as channel:
            try:
                return not channel.queue_declare(queue, passive=True).message_count
            except ChannelError:
                return True

    def _publish(self, message: Message) -> None:
        # Not `send_task`, which takes twice as long for options that are always the same here. No message expires: that
        # goes by the worker's clock, and one that is wrong would drop all of them. Old claims match no row.
        amqp = self.app.amqp
        task = amqp.create_task_message(
            uuid(),
            TASK,
            args=[message.claims],
            kwargs={"first": message.first},
            ignore_result=True,
            argsrepr="",
        )
        amqp.send_task_message(self.producer, TASK, task, queue=message.queue)

    def _until_next(self, connection: psycopg.Connection[Any]) -> float:
        [[seconds]] = connection.execute(UNTIL_NEXT)
        return MAX_WAIT_SECONDS if seconds is None else float(seconds)


def _is_notified(connection: psycopg.Connection[Any], seconds: float = 0.0) -> bool:
    """Wait for a notification; psycopg itself would look for one ten times a second."""
    if not (found := list(connection.notifies(timeout=0))) and seconds > 0:
        select.select([connection.fileno()], [], [], seconds)
        found = list(connection.notifies(timeout=0))
    return bool(found)


def _clock_began() -> float:
    """When the monotonic clock was zero, by the wall clock, which may be set."""
    return time.time() - time.monotonic()


def _take_lock(connection: psycopg.Connection[Any]) -> bool:
    [[granted]] = connection.execute("SELECT pg_try_advisory_lock(%s)", [LEADERSHIP])
    return bool(granted)
