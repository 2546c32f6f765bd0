"""Two beats, one of which leads: a hung one is replaced, and no fixed job is sent twice."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from celery import current_app
from celery.beat import SchedulingError
from django.core.cache import cache
from django.db import connection
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask
from django_celery_beat.schedulers import ModelEntry
from kombu.exceptions import OperationalError

from apps.jobs.actions import outstanding
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.beat import Message, RetrievalScheduler
from apps.retrieval.scheduler.claims import Claim
from tests.builders import a_source

SILENCE = 0.5  # s


class Beat(RetrievalScheduler):
    """The real scheduler, which notes what it would send."""

    def __init__(self) -> None:
        self.published: list[Claim] = []
        self.sent: list[str] = []
        self.broker_is_away = False
        self.works = True
        super().__init__(app=current_app, lazy=True)

    @property
    def producer(self) -> None:
        if self.broker_is_away:
            raise OperationalError("The broker is away.")

    def _publish(self, message: Message) -> None:
        self.published += message.claims

    def apply_async(self, entry, producer=None, advance=True, **kwargs):
        if self.broker_is_away:
            raise SchedulingError("The broker is away.")
        self.sent.append(entry.name)
        if self.works and (reservation := entry.options["headers"].get(outstanding.HEADER)):
            outstanding.release(*reservation)  # as a worker that has done the task


@pytest.fixture
def make_beat(transactional_db, monkeypatch):
    for name, seconds in {
        "MAX_WAIT_SECONDS": 0.1,
        "STANDBY_WAIT": 0.1,
        "TRY_AGAIN": 0.05,
        "LEADER_SILENCE": SILENCE,
    }.items():
        monkeypatch.setattr(f"apps.retrieval.scheduler.beat.{name}", seconds)
    made: list[Beat] = []

    def make() -> Beat:
        made.append(Beat())
        return made[-1]

    yield make
    for beat in made:
        beat._disconnect()


@pytest.fixture
def job(transactional_db) -> PeriodicTask:
    hourly = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.HOURS)
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    return PeriodicTask.objects.create(name="job", task="job", interval=hourly, last_run_at=an_hour_ago)


def a_due_source() -> int:
    return Schedule.objects.create(source=a_source(), partition=0, due_at=datetime.now(UTC)).source_id


def tick_until(beat: Beat, is_so, within: float = 30.0) -> None:
    until = time.monotonic() + within
    while not is_so() and time.monotonic() < until:
        beat.tick()
    assert is_so()


def lead(beat: Beat) -> None:
    """The beat of the test before may only just have gone."""
    tick_until(beat, lambda: beat._leads)


def test_a_leader_that_hangs_is_replaced_and_sends_nothing_when_it_wakes_up(make_beat):
    hung, standby = make_beat(), make_beat()
    lead(hung)
    source_id = a_due_source()
    begun = time.monotonic()
    tick_until(standby, lambda: standby.published)
    assert time.monotonic() - begun > SILENCE / 2  # a leader that was only slow kept its place for so long
    another_id = a_due_source()
    hung.tick()
    hung.tick()
    assert hung.published == []
    tick_until(standby, lambda: len(standby.published) == 2)
    assert [claim.source_id for claim in standby.published] == [source_id, another_id]


def test_a_leader_that_works_is_left_alone(make_beat):
    leader, standby = make_beat(), make_beat()
    lead(leader)
    until = time.monotonic() + 3 * SILENCE
    while time.monotonic() < until:
        leader.tick()
        standby.tick()
    assert leader._leads
    assert not standby._leads


def test_a_leader_whose_statement_takes_long_does_not_hang(make_beat):
    leader, standby = make_beat(), make_beat()
    lead(leader)
    leader._connection.pgconn.send_query(b"SELECT pg_sleep(2)")
    until = time.monotonic() + 2 * SILENCE
    while time.monotonic() < until:
        standby.tick()
    assert not standby._leads


def test_a_fixed_job_is_sent_by_the_leader_alone(make_beat, job):
    leader, standby = make_beat(), make_beat()
    lead(leader)
    for _ in range(5):
        leader.tick()
        standby.tick()
    assert (leader.sent, standby.sent) == (["job"], [])


def test_a_new_leader_does_not_repeat_runs_that_the_former_one_sent(make_beat, job):
    leader, standby = make_beat(), make_beat()
    assert standby.schedule["job"].is_due().is_due  # it has read the jobs before the other one sent any
    tick_until(leader, lambda: leader.sent)
    leader._disconnect()
    tick_until(standby, lambda: standby._leads)
    for _ in range(5):
        standby.tick()
    assert standby.sent == []


def test_a_beat_that_hung_before_it_sent_a_job_does_not_send_it_again(make_beat, job):
    hung, other = make_beat(), make_beat()
    stale = hung.schedule["job"]
    tick_until(other, lambda: other.sent)
    next(stale)
    hung.apply_entry(stale)
    assert hung.sent == []
    assert PeriodicTask.objects.get().total_run_count == 1


def test_a_job_that_the_broker_did_not_take_is_sent_when_it_is_back(make_beat, job):
    beat = make_beat()
    beat.broker_is_away = True
    for _ in range(3):
        beat.tick()
    assert PeriodicTask.objects.get().last_run_at == job.last_run_at
    beat.broker_is_away = False
    tick_until(beat, lambda: beat.sent)
    assert beat.sent == ["job"]


def test_a_beat_goes_on_when_both_of_its_connections_are_broken(make_beat, job):
    beat = make_beat()
    lead(beat)
    PeriodicTask.objects.update(last_run_at=job.last_run_at)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.connection.close()  # as the fixed jobs find it after a restart of Postgres
    beat.sent.clear()
    tick_until(beat, lambda: beat.sent)
    assert beat.sent == ["job"]


@pytest.fixture
def every_second(transactional_db) -> PeriodicTask:
    interval = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.SECONDS)
    return PeriodicTask.objects.create(name="job", task="job", interval=interval)


def test_jobs_go_on_after_a_leader_whose_clock_was_ahead(make_beat, every_second):
    PeriodicTask.objects.update(last_run_at=datetime.now(UTC) + timedelta(hours=3))
    beat = make_beat()
    tick_until(beat, lambda: beat.sent)
    assert PeriodicTask.objects.get().last_run_at < datetime.now(UTC) + timedelta(seconds=1)


def test_jobs_go_on_when_the_clock_is_set_back(make_beat, every_second):
    beat = make_beat()
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=3), tick=True):
        tick_until(beat, lambda: beat.sent)
    beat.sent.clear()
    tick_until(beat, lambda: len(beat.sent) == 2)


def test_a_clock_that_is_set_ahead_sends_a_job_once_and_not_for_all_the_time_between(make_beat, job):
    PeriodicTask.objects.update(last_run_at=datetime.now(UTC))
    beat = make_beat()
    lead(beat)
    assert beat.sent == []
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=30), tick=True):
        for _ in range(20):
            beat.tick()
    assert beat.sent == ["job"]


def test_a_job_whose_message_is_outstanding_is_not_sent_again(make_beat, every_second, monkeypatch):
    monkeypatch.setattr(outstanding, "EXPIRE_SECONDS", 60)
    beat = make_beat()
    beat.works = False
    tick_until(beat, lambda: beat.sent)
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        beat.tick()
    assert beat.sent == ["job"]
    cache.delete("outstanding:job")  # done, or lost and expired
    tick_until(beat, lambda: len(beat.sent) == 2)


def test_a_job_that_waits_for_work_is_sent_when_there_is_some(make_beat, every_second, monkeypatch):
    monkeypatch.setitem(current_app.conf, "work_of_tasks", {"job": "SELECT 1 FROM sources_source"})
    beat = make_beat()
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        beat.tick()
    assert beat.sent == []
    a_source()
    tick_until(beat, lambda: beat.sent)


def test_a_job_of_the_calendar_is_always_sent(make_beat):
    yearly = CrontabSchedule.objects.create(minute="0", hour="0", day_of_month="1", month_of_year="1")
    entry = PeriodicTask.objects.create(name="job", task="job", crontab=yearly)
    beat = make_beat()
    for _ in range(2):
        beat.apply_entry(next(ModelEntry(PeriodicTask.objects.get(pk=entry.pk), app=beat.app)))
    assert beat.sent == ["job"] * 2
