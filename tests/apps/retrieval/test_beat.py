"""Beat claims what is due, once, and in few messages that keep a partition together."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from celery import Celery, current_app
from django.db import connections
from kombu.exceptions import OperationalError

from apps.retrieval.models import Schedule, Worker
from apps.retrieval.scheduler.beat import (
    CLAIM,
    CLAIM_SIZE,
    LEADERSHIP,
    MESSAGE_SIZE,
    Due,
    Message,
    RetrievalScheduler,
    messages,
)
from apps.retrieval.scheduler.claims import BACKOFF_SECONDS, IMMEDIATE_ATTEMPTS, LEASE, MAX_SILENCE_SECONDS, Claim
from apps.retrieval.scheduler.queues import queue_of
from apps.sources.algorithms.partitions import PARTITIONS
from tests.builders import a_source

NOW = datetime.now(UTC)


def a_schedule(due_at: datetime | None, partition: int = 0) -> Schedule:
    return Schedule.objects.create(source=a_source(), due_at=due_at, partition=partition)


class Beat(RetrievalScheduler):
    """The real scheduler without the fixed jobs; notes what it publishes instead of sending it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.refuses = False
        super().__init__(app=current_app, lazy=True)

    def _tick_fixed_jobs(self, *args, **kwargs) -> None:
        self._next_fixed_tick = float("inf")

    def _publish(self, message: Message) -> None:
        if self.refuses:
            raise OperationalError("The broker is away.")
        self.messages.append(message)

    @property
    def published(self) -> list[list[Claim]]:
        return [message.claims for message in self.messages]

    @property
    def sources(self) -> list[int]:
        return [claim.source_id for claims in self.published for claim in claims]


@pytest.fixture
def beat(transactional_db, monkeypatch):
    monkeypatch.setattr("apps.retrieval.scheduler.beat.MAX_WAIT_SECONDS", 0.2)
    monkeypatch.setattr("apps.retrieval.scheduler.beat.STANDBY_WAIT", 0.2)
    monkeypatch.setattr("apps.retrieval.scheduler.beat.TRY_AGAIN", 0.05)
    scheduler = Beat()
    yield scheduler
    scheduler._disconnect()


def by_partition(claims: list[Claim], partitions: int) -> list[list[Claim]]:
    return [[claim for claim in claims if claim.source_id % partitions == number] for number in range(partitions)]


def test_full_messages_hold_sources_of_a_partition_in_the_order_of_their_due_times():
    due = [Due(number, 1, number % 3, float(-number), 0.0) for number in range(200)]
    cut = list(messages(due))
    assert sorted(claim.source_id for message in cut for claim in message.claims) == list(range(200))
    assert all(len(message.claims) <= MESSAGE_SIZE for message in cut)
    for message in cut:
        for claims in by_partition(message.claims, 3):
            assert claims == sorted(claims, key=lambda claim: claim.due_at)
    for number in range(3):  # 67 at most, in as few messages as they fit into
        assert sum(any(claim.source_id % 3 == number for claim in message.claims) for message in cut) == 3


def test_few_sources_of_many_partitions_share_a_message_and_none_is_torn_apart():
    due = [Due(number, 1, number % 30, float(-number), 0.0) for number in range(60)]
    cut = list(messages(due))
    assert [len(message.claims) for message in cut] == [24, 24, 12]
    for message in cut:
        assert all(len(claims) in (0, 2) for claims in by_partition(message.claims, 30))


def test_each_queue_gets_the_sources_of_its_partitions_alone():
    due = [Due(number, 1, number % PARTITIONS, 0.0, 0.0) for number in range(200)]
    for message in messages(due, queues=4):
        assert {queue_of(claim.source_id % PARTITIONS, 4) for claim in message.claims} == {message.queue}


def test_due_sources_are_published_once_and_leased(beat):
    due = a_schedule(NOW - timedelta(seconds=1))
    waiting = a_schedule(NOW + timedelta(hours=1))
    never = a_schedule(None)
    beat.tick()
    beat._dispatch_due(beat._connect())
    assert beat.sources == [due.source_id]
    due_at = due.due_at
    due.refresh_from_db()
    assert due.sequence == 1
    assert due.first_due_at == due_at
    assert abs(due.due_at - due.dispatched_at - LEASE) < timedelta(milliseconds=1)
    for other in (waiting, never):
        before = other.due_at
        other.refresh_from_db()
        assert (other.due_at, other.sequence) == (before, 0)


def test_a_worker_whose_clock_is_wrong_drops_no_message(beat, monkeypatch):
    """Celery compares the time at which a message expires with the clock of the worker."""
    sent = []
    monkeypatch.setattr(current_app.amqp, "send_task_message", lambda _producer, _name, task, **_: sent.append(task))
    monkeypatch.setitem(beat.__dict__, "producer", None)
    RetrievalScheduler._publish(beat, Message("retrieval", [Claim(1, 1, 0.0, 0.0)]))
    assert [task.headers["expires"] for task in sent] == [None]


def test_first_retrievals_have_messages_and_queues_of_their_own(beat):
    late = [a_schedule(NOW - timedelta(hours=1), partition) for partition in (1, 2, 2)]
    Schedule.objects.update(observed_at=NOW - timedelta(hours=2))
    failed = a_schedule(NOW - timedelta(hours=1), 2)
    Schedule.objects.filter(pk=failed.pk).update(consecutive_failures=1)
    new = [a_schedule(NOW - timedelta(seconds=1), partition) for partition in (2, 3)]
    beat.tick()
    found = {message.queue: {claim.source_id for claim in message.claims} for message in beat.messages}
    assert found == {
        "retrieval": {schedule.pk for schedule in (*late, failed)},
        "retrieval-first": {schedule.pk for schedule in new},
    }
    assert {message.queue: message.first for message in beat.messages} == {"retrieval": False, "retrieval-first": True}


def test_a_lease_that_ran_out_makes_a_source_due_again(beat):
    schedule = a_schedule(NOW - timedelta(seconds=1))
    beat.tick()
    Schedule.objects.filter(pk=schedule.pk).update(due_at=NOW)
    beat._dispatch_due(beat._connect())
    assert [claim.sequence for claims in beat.published for claim in claims] == [1, 2]


def test_more_than_one_batch_is_dispatched_in_one_tick(beat):
    sources = [a_source() for _ in range(3)]
    Schedule.objects.bulk_create([Schedule(source=source, due_at=NOW, partition=1) for source in sources])
    beat._dispatch_due(beat._connect())
    assert Counter(beat.sources) == Counter(source.pk for source in sources)
    assert CLAIM_SIZE > 3


def test_the_claim_is_served_by_the_index_and_not_by_reading_all_schedules(beat):
    connection = beat._connect()
    connection.execute("SET enable_seqscan = off")  # few rows: Postgres would rather read them all
    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {CLAIM}", [CLAIM_SIZE, LEASE]).fetchall())
    assert "schedule_due" in plan
    assert "Index Cond" in plan


def test_a_second_beat_stands_by_until_the_first_is_gone(beat):
    beat.tick()
    standby = Beat()
    schedule = a_schedule(NOW - timedelta(seconds=1))
    try:
        standby.tick()
        assert standby.published == []
        beat._disconnect()
        deadline = datetime.now(UTC) + timedelta(seconds=30)
        while not standby.published and datetime.now(UTC) < deadline:  # the lock is free when the server has noticed
            standby.tick()
        assert standby.sources == [schedule.source_id]
    finally:
        standby._disconnect()


def test_a_beat_that_loses_its_connection_leads_again_after_a_new_one(beat):
    beat.tick()
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s", [LEADERSHIP])
        cursor.execute("SELECT pg_terminate_backend(%s)", cursor.fetchone())
    schedule = a_schedule(NOW - timedelta(seconds=1))
    deadline = datetime.now(UTC) + timedelta(seconds=30)
    while not beat.published and datetime.now(UTC) < deadline:  # finds the connection gone, then waits for the lock
        beat.tick()
    assert beat.sources == [schedule.source_id]


def test_a_nearer_due_time_wakes_a_waiting_beat(beat, monkeypatch):
    monkeypatch.setattr("apps.retrieval.scheduler.beat.MAX_WAIT_SECONDS", 5.0)
    beat._connect()
    beat._lead(beat._connect())
    parameters = {
        key: value
        for key, value in connections["default"].get_connection_params().items()
        if key in {"dbname", "user", "host", "port", "password"}
    }
    with psycopg.connect(**parameters, autocommit=True) as other:
        other.execute("NOTIFY retrieval_schedule")
    began = datetime.now(UTC)
    beat.tick()
    assert datetime.now(UTC) - began < timedelta(seconds=2)


def claims_seen_by_another_session() -> dict[int, int]:
    """Sequences of all schedules as a worker's session sees them."""
    connection = connections["default"].copy()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT source_id, sequence FROM retrieval_schedule")
            return dict(cursor.fetchall())
    finally:
        connection.close()


def test_claims_are_visible_to_workers_before_their_message_is_published(beat, monkeypatch):
    schedules = [a_schedule(NOW - timedelta(seconds=1)) for _ in range(3)]
    seen = []
    monkeypatch.setattr(beat, "_publish", lambda message: seen.append((message, claims_seen_by_another_session())))
    beat.tick()
    [(message, sequences)] = seen
    assert sequences == {claim.source_id: claim.sequence for claim in message.claims}
    assert len(sequences) == len(schedules)


def test_claims_that_the_broker_refused_are_published_when_it_is_back(beat):
    schedule = a_schedule(NOW - timedelta(seconds=1))
    beat.refuses = True
    beat.tick()
    assert beat.published == []
    beat.refuses = False
    beat.tick()
    [[claim]] = beat.published
    assert (claim.source_id, claim.sequence) == (schedule.pk, 1)


def test_a_beat_that_takes_over_publishes_what_was_claimed_and_not_published(beat):
    schedule = a_schedule(NOW - timedelta(seconds=1))
    with beat._connect().transaction():
        beat._connect().execute(CLAIM, [CLAIM_SIZE, LEASE])  # then the leader was killed
    beat._disconnect()
    successor = Beat()
    try:
        deadline = datetime.now(UTC) + timedelta(seconds=30)
        while not successor.published and datetime.now(UTC) < deadline:
            successor.tick()
        [[claim]] = successor.published
        assert (claim.source_id, claim.sequence) == (schedule.pk, 1)
    finally:
        successor._disconnect()


def test_the_first_due_time_survives_every_dispatch(beat):
    first = NOW - timedelta(hours=1)
    schedule = a_schedule(first)
    beat.tick()
    Schedule.objects.update(due_at=NOW)  # the lease ran out
    beat._dispatch_due(beat._connect())
    schedule.refresh_from_db()
    assert schedule.first_due_at == first
    assert [claim.due_at for claims in beat.published for claim in claims] == [first.timestamp()] * 2


@pytest.fixture
def a_settled_server(transactional_db) -> None:
    """Releases wait until heartbeats could have come; the server of the tests may just have started."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT pg_sleep(greatest(0, extract(epoch FROM pg_postmaster_start_time() - now()) + %s))",
            [MAX_SILENCE_SECONDS + 0.1],
        )


def begun(worker: str, *, attempts: int = 1) -> Schedule:
    schedule = a_schedule(NOW + timedelta(hours=1))
    Schedule.objects.filter(pk=schedule.pk).update(
        worker=worker, first_due_at=NOW - timedelta(seconds=9), attempts=attempts
    )
    return schedule


def test_sources_of_silent_workers_are_dispatched_again_and_those_of_others_are_not(a_settled_server, beat):
    Worker.objects.create(name="alive", seen_at=datetime.now(UTC))
    Worker.objects.create(name="silent", seen_at=datetime.now(UTC) - timedelta(seconds=MAX_SILENCE_SECONDS + 1))
    kept, silent, unknown = begun("alive"), begun("silent"), begun("unknown")
    beat.tick()
    assert sorted(beat.sources) == sorted([silent.pk, unknown.pk])
    kept.refresh_from_db()
    assert kept.worker == "alive"
    silent.refresh_from_db()
    assert (silent.worker, silent.first_due_at) == ("", NOW - timedelta(seconds=9))


def test_a_source_that_has_seen_many_workers_end_is_retried_later_and_later(a_settled_server, beat):
    schedules = [begun("gone", attempts=attempts) for attempts in (IMMEDIATE_ATTEMPTS, IMMEDIATE_ATTEMPTS + 2)]
    beat.tick()
    assert beat.sources == []
    waits = [(Schedule.objects.get(pk=each.pk).due_at - datetime.now(UTC)).total_seconds() for each in schedules]
    assert 0.5 * BACKOFF_SECONDS < waits[0] <= BACKOFF_SECONDS
    assert 3.5 * BACKOFF_SECONDS < waits[1] <= 4 * BACKOFF_SECONDS


@pytest.mark.parametrize("is_empty", [True, False])
def test_claims_whose_message_is_lost_are_published_again_once_their_queue_is_empty(beat, monkeypatch, is_empty):
    monkeypatch.setattr("apps.retrieval.scheduler.beat.LOST_AFTER", 0.0)
    monkeypatch.setattr("apps.retrieval.scheduler.beat.CHECK_EVERY", 0.0)
    monkeypatch.setattr(beat, "_is_empty", lambda queue: is_empty)
    schedule = a_schedule(NOW - timedelta(seconds=1))
    beat.tick()
    beat.tick()
    assert beat.sources == [schedule.pk] * (2 if is_empty else 1)


@pytest.mark.parametrize("broker", ["redis://127.0.0.1:1/0", "amqp://guest:guest@127.0.0.1:1//"])
def test_a_beat_whose_broker_is_away_keeps_its_claims_and_goes_on(transactional_db, monkeypatch, broker):
    monkeypatch.setattr("apps.retrieval.scheduler.beat.TRY_AGAIN", 0.05)
    monkeypatch.setattr("apps.retrieval.scheduler.beat.LOST_AFTER", 0.0)
    monkeypatch.setattr("apps.retrieval.scheduler.beat.CHECK_EVERY", 0.0)
    app = Celery("away", set_as_current=False, broker=broker)
    app.conf.update(broker_connection_timeout=1, task_publish_retry=False)
    beat = RetrievalScheduler(app=app, lazy=True)
    schedule = a_schedule(NOW - timedelta(seconds=1))
    try:
        for _ in range(3):
            beat.tick()
        schedule.refresh_from_db()
        assert (schedule.sequence, schedule.dispatched_at is not None) == (1, True)
        assert beat._must_republish
    finally:
        beat._disconnect()
