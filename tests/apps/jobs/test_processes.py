"""Workers as processes of their own, which are killed, or stopped and woken up again."""

import multiprocessing
import os
import signal
import time
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.db.models.functions import Now

from apps.jobs import actions
from apps.jobs.actions import working
from apps.jobs.models import Attempt, Job
from tests.apps.jobs.counting import KIND, counted

pytestmark = pytest.mark.django_db(transaction=True)

_forked = multiprocessing.get_context("fork")


@pytest.fixture
def a_worker(counting_job):
    """Starts a process that works up to number 4 and waits there for a signal."""
    started = []

    def start(what: signal.Signals) -> tuple[Job, int]:
        here, go_on = _forked.Pipe(), _forked.Pipe()
        parent = os.getpid()

        def wait_at_four(number, beat):
            beat()
            if number == 4 and os.getpid() != parent:
                here[1].send("here")
                go_on[0].poll(30)

        counting_job(during=wait_at_four, in_order=True, backups=False)
        job, _ = actions.claiming.create(KIND, requested_by="a test")
        actions.advancing.advance(job.pk)
        connection.close()
        process = _forked.Process(target=_work, args=(job.pk,))
        process.start()
        started.append(process)
        assert here[0].poll(30)
        os.kill(process.pid, what)
        go_on[1].send("go on")
        if what == signal.SIGKILL:
            process.join()
        return job, process.pid

    yield start
    for process in started:
        process.kill()
        process.join()


def _work(job_id: int) -> None:
    working.work("the other process", job_id)
    connections.close_all()


def take_over(job: Job) -> None:
    """A minute later, another worker does what is left."""
    working.work("this process", job.pk)
    assert 4 not in counted()  # the other process might still be at it
    Attempt.objects.filter(outcome="").update(leased_until=Now() - timedelta(seconds=1))
    working.work("this process", job.pk)
    assert Job.objects.get(pk=job.pk).state == Job.State.DONE
    assert counted() == list(range(12))


def test_another_worker_takes_over_from_a_killed_one(a_worker):
    job, _ = a_worker(signal.SIGKILL)
    take_over(job)
    lost = Attempt.objects.get(outcome=Attempt.Outcome.LOST)
    assert lost.worker == "the other process"
    assert lost.problem == "Its worker stopped responding."


def test_a_stopped_worker_that_wakes_up_finds_that_nothing_of_it_counts(a_worker):
    job, process = a_worker(signal.SIGSTOP)
    take_over(job)
    os.kill(process, signal.SIGCONT)
    for child in multiprocessing.active_children():
        child.join(30)
    assert counted() == list(range(12))
    assert Attempt.objects.filter(outcome=Attempt.Outcome.LOST).count() == 1


def test_the_database_ends_the_session_of_who_is_stopped_while_committing(counting_job):
    counting_job(records=1)
    job, _ = actions.claiming.create(KIND, requested_by="a test")
    actions.advancing.advance(job.pk)
    claim, seen = actions.claiming.claim("a worker", job.pk), []

    def write():
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('idle_in_transaction_session_timeout')")
            seen.append(cursor.fetchone()[0])
        return {}

    actions.claiming.commit(claim.attempt_id, write)
    assert seen == ["1min"]


def test_two_workers_at_a_time_never_take_the_same_split(counting_job):
    counting_job(records=30, per_split=1, during=lambda number, beat: time.sleep(0.005), backups=False)
    job, _ = actions.claiming.create(KIND, requested_by="a test")
    actions.advancing.advance(job.pk)
    connection.close()
    processes = [_forked.Process(target=_work, args=(job.pk,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    working.work("this process", job.pk)
    assert counted() == list(range(30))
    assert not Attempt.objects.exclude(outcome=Attempt.Outcome.DONE).exists()
    assert Job.objects.get().state == Job.State.DONE
