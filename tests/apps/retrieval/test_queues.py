"""Partitions go to queues, and hosts that take from these may come and go."""

from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from celery import Celery
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.beat import RetrievalScheduler
from apps.retrieval.scheduler.queues import all_queues, queue_of, retrieval_queues
from apps.sources.algorithms.partitions import PARTITIONS
from tests.apps.retrieval.queues import app_with
from tests.builders import a_source

QUEUES = 4


@given(st.integers(1, 100))
def test_every_partition_has_one_queue_and_queues_about_as_many(queues):
    shares = Counter(queue_of(partition, queues) for partition in range(PARTITIONS))
    first = {queue_of(partition, queues, first=True) for partition in range(PARTITIONS)}
    assert not first & set(shares)
    assert set(shares) | first == set(retrieval_queues(queues)) == set(all_queues(queues)) - {"celery"}
    assert len(shares) == min(queues, PARTITIONS)
    assert max(shares.values()) - min(shares.values()) <= 1


class Host:
    """Takes messages from some queues until it is gone."""

    def __init__(self, app: Celery, *names: str) -> None:
        self.claims: list[int] = []
        self._connection = app.connection_for_read()
        queues = [app.amqp.queues[name].bind(self._connection.default_channel) for name in names]
        self._consumer = self._connection.Consumer(queues, callbacks=[self._note], accept=["json"])
        self._consumer.consume()

    def _note(self, body, message) -> None:
        self.claims += [source_id for source_id, *_ in body[0][0]]
        message.ack()

    def take_all(self) -> None:
        with suppress(TimeoutError):
            while True:
                self._connection.drain_events(timeout=0.3)

    def leave(self) -> None:
        self._connection.close()


@pytest.fixture
def app(settings, transactional_db):
    settings.RETRIEVAL_QUEUES = QUEUES
    return app_with(QUEUES)


@pytest.fixture
def beat(app):
    scheduler = RetrievalScheduler(app=app, lazy=True)
    yield scheduler
    scheduler._disconnect()


def due_sources(count: int) -> set[int]:
    now = datetime.now(UTC)
    sources = [a_source() for _ in range(count)]
    Schedule.objects.bulk_create(
        Schedule(source=source, due_at=now - timedelta(seconds=1), partition=number % PARTITIONS)
        for number, source in enumerate(sources)
    )
    return {source.pk for source in sources}


def test_every_source_reaches_one_host_while_hosts_come_and_go(app, beat):
    names = retrieval_queues(QUEUES)[QUEUES:]
    one, other = Host(app, *names[:2]), Host(app, *names[2:])
    expected = due_sources(70)
    beat._dispatch_due(beat._connect())
    one.take_all()
    other.take_all()
    assert one.claims
    assert other.claims
    assert Counter(one.claims + other.claims) == Counter(expected)

    other.leave()
    later = due_sources(70)
    beat._dispatch_due(beat._connect())
    one.take_all()
    third = Host(app, *names[1:])  # comes in its place, and helps the first one
    third.take_all()
    assert Counter(one.claims[-70:] + other.claims + third.claims).keys() >= later
    assert Counter(one.claims + other.claims + third.claims) == Counter(expected | later)
    one.leave()
    third.leave()


def test_the_sources_of_a_partition_meet_in_one_queue(app, beat):
    due_sources(2 * PARTITIONS)
    hosts = [Host(app, name) for name in retrieval_queues(QUEUES)[QUEUES:]]
    beat._dispatch_due(beat._connect())
    partition_of = dict(Schedule.objects.values_list("source_id", "partition"))
    seen = []
    for host in hosts:
        host.take_all()
        seen.append({partition_of[source_id] for source_id in host.claims})
        host.leave()
    assert sum(map(len, seen)) == len(set().union(*seen)) == PARTITIONS
