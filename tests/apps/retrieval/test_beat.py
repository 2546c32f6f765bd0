"""Beat claims what is due, once, and in few messages that keep a partition together."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from celery import current_app
from django.db import connections

from apps.retrieval.beat import CLAIM, CLAIM_SIZE, LEADERSHIP, MESSAGE_SIZE, Due, Message, RetrievalScheduler, messages
from apps.retrieval.claims import LEASE, Claim
from apps.retrieval.models import Schedule
from apps.retrieval.queues import queue_of
from apps.sources.algorithms.partitions import PARTITIONS
from tests.builders import a_source

NOW = datetime.now(UTC)


def a_schedule(due_at: datetime | None, partition: int = 0) -> Schedule:
    return Schedule.objects.create(source=a_source(), due_at=due_at, partition=partition)


class Beat(RetrievalScheduler):
    """The real scheduler without the fixed jobs; notes what it publishes instead of sending it."""

    def __init__(self) -> None:
        self.published: list[list[Claim]] = []
        super().__init__(app=current_app, lazy=True)

    def _tick_fixed_jobs(self, *args, **kwargs) -> None:
        self._next_fixed_tick = float("inf")

    def _publish(self, message: Message) -> None:
        self.published.append(message.claims)

    @property
    def sources(self) -> list[int]:
        return [claim.source_id for claims in self.published for claim in claims]


@pytest.fixture
def beat(transactional_db, monkeypatch):
    monkeypatch.setattr("apps.retrieval.beat.LONGEST_WAIT", 0.2)
    monkeypatch.setattr("apps.retrieval.beat.STANDBY_WAIT", 0.2)
    scheduler = Beat()
    yield scheduler
    scheduler._disconnect()


def by_partition(claims: list[Claim], partitions: int) -> list[list[Claim]]:
    return [[claim for claim in claims if claim.source_id % partitions == number] for number in range(partitions)]


def test_full_messages_hold_sources_of_a_partition_together_and_in_the_order_of_their_instants():
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


def test_what_is_due_is_published_once_and_leased(beat):
    due = a_schedule(NOW - timedelta(seconds=1))
    waiting = a_schedule(NOW + timedelta(hours=1))
    never = a_schedule(None)
    beat.tick()
    beat._dispatch_due(beat._connect())
    assert beat.sources == [due.source_id]
    due.refresh_from_db()
    assert due.sequence == 1
    assert abs(due.due_at - due.dispatched_at - LEASE) < timedelta(milliseconds=1)
    for other in (waiting, never):
        before = other.due_at
        other.refresh_from_db()
        assert (other.due_at, other.sequence) == (before, 0)


def test_sources_that_were_never_asked_go_first(beat):
    late = [a_schedule(NOW - timedelta(hours=1), partition) for partition in (1, 2, 2)]
    Schedule.objects.update(asked_at=NOW - timedelta(hours=2))
    new = [a_schedule(NOW - timedelta(seconds=1), partition) for partition in (2, 3)]
    beat.tick()
    [claims] = beat.published
    order = [claim.source_id for claim in claims]
    # A partition stays together, so what is late in the second follows the new source there.
    assert order.index(new[1].source_id) < order.index(late[0].source_id)
    assert order.index(new[0].source_id) < min(order.index(schedule.source_id) for schedule in late)
    assert sorted(order) == sorted(schedule.source_id for schedule in (*late, *new))


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
        give_up = datetime.now(UTC) + timedelta(seconds=30)
        while not standby.published and datetime.now(UTC) < give_up:  # the lock is free when the server has noticed
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
    give_up = datetime.now(UTC) + timedelta(seconds=30)
    while not beat.published and datetime.now(UTC) < give_up:  # finds the connection gone, then waits for the lock
        beat.tick()
    assert beat.sources == [schedule.source_id]


def test_a_nearer_instant_wakes_a_waiting_beat(beat, monkeypatch):
    monkeypatch.setattr("apps.retrieval.beat.LONGEST_WAIT", 5.0)
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
