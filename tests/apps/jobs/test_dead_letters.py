"""No message is redelivered forever: one that kills its workers, or is unreadable, becomes a dead letter."""

import logging
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from celery import Celery, current_app
from celery.contrib.testing.worker import start_worker
from django.conf import settings

from apps.jobs.actions import dead_letters
from apps.jobs.models import DeadLetter
from portal.celery import app

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def task():
    """A task that records its calls, and fails on demand."""
    calls = []

    @current_app.task(base=dead_letters.CountedTask, name=f"noted-{uuid4().hex}")
    def noted(word):
        calls.append((word, list(DeadLetter.objects.values_list("tries", flat=True))))
        if word == "fail":
            raise ValueError(word)

    noted.calls = calls
    yield noted
    current_app.tasks.unregister(noted.name)


def deliver(task, word, *, again):
    task.push_request(id="message 1", delivery_info={"redelivered": again})
    try:
        return task(word)
    finally:
        task.pop_request()


def test_message_becomes_a_dead_letter_after_three_redeliveries(db):
    tried = [dead_letters.may_try("message 1", "a task", "its words", now=NOW) for _ in range(5)]
    assert tried == [True, True, True, False, False]
    row = DeadLetter.objects.get()
    assert (row.task, row.content, row.abandoned_at) == ("a task", "its words", NOW)
    assert row.reason == "Its worker died 4 times while it ran."


def test_the_first_delivery_of_a_message_is_not_counted(db, task):
    deliver(task, "word", again=False)
    assert task.calls == [("word", [])]


def test_a_try_is_counted_before_it_begins_and_forgotten_when_the_worker_lives_on(db, task):
    deliver(task, "word", again=True)
    with pytest.raises(ValueError, match="fail"):
        deliver(task, "fail", again=True)
    assert task.calls == [("word", [1]), ("fail", [1])]
    assert not DeadLetter.objects.exists()


def test_a_message_that_ended_its_worker_too_often_is_not_tried_again(db, task):
    for _ in range(dead_letters.MAX_TRIES):
        assert dead_letters.may_try("message 1", task.name, "", now=NOW)  # and then the worker ended
    deliver(task, "word", again=True)
    assert task.calls == []
    assert DeadLetter.objects.get().abandoned_at is not None


def test_all_tasks_of_the_portal_count_their_tries():
    app.loader.import_default_modules()
    ours = [task for name, task in app.tasks.items() if name.startswith("apps.")]
    assert len(ours) > 20
    assert all(isinstance(task, dead_letters.CountedTask) for task in ours)


def test_unreadable_message_becomes_a_dead_letter_and_the_next_one_is_processed(transactional_db):
    logging.getLogger("celery.worker.consumer.consumer").setLevel(logging.CRITICAL)
    name, done = f"unreadable-{uuid4().hex}", []
    readers = Celery("readers", broker=settings.CELERY_BROKER_URL, set_as_current=False)
    readers.conf.update(worker_consumer=settings.CELERY_WORKER_CONSUMER, task_default_queue=name)

    @readers.task(name="readable")
    def readable():
        done.append("done")

    with start_worker(readers, pool="solo", perform_ping_check=False, shutdown_timeout=30):
        with readers.connection_for_write() as connection, connection.Producer() as producer:
            producer.publish({"no": "task"}, routing_key=name)
            producer.publish([[], {}, {}], routing_key=name, headers={"id": "message 2", "task": "of.tomorrow"})
        readable.delay()
        until = time.monotonic() + 30
        while not done and time.monotonic() < until:
            time.sleep(0.05)
    assert done
    kept = {row.task: row for row in DeadLetter.objects.all()}
    assert set(kept) == {"", "of.tomorrow"}
    assert all(row.abandoned_at for row in kept.values())
    assert kept["of.tomorrow"].id == "message 2"


def test_metrics_count_dead_letters(client, db):
    assert "wirebeat_dead_letters 0.0" in client.get("/metrics").text
    dead_letters.abandon_message("message 1", "of.tomorrow", "its words", "It is not known.", now=NOW)
    assert "wirebeat_dead_letters 1.0" in client.get("/metrics").text
