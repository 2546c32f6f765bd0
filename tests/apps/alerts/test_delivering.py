"""Messages are delivered nearly exactly once, despite crashes, concurrent workers and changed rules."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from threading import Barrier, Event

import pytest
from django.db import connections

from apps.alerts import tasks
from apps.alerts.actions.delivering import KEPT, deliver, forget_old, send_due
from apps.alerts.actions.rules import set_notification_settings
from apps.alerts.algorithms.times import MAX_ATTEMPTS
from apps.alerts.channels import DeliveryResult, all_channels
from apps.alerts.models import Attempt, Message
from apps.alerts.queries.messages import dead_letters, due, left_behind, messages_of
from portal.celery import app
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find, send_all, the_message
from tests.apps.alerts.worker import Worker
from tests.builders import NOON

LEASE, LEASE_OF_MAIL = (all_channels()[name].lease for name in ("webhook", "mail"))
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


# --- crashes ----------------------------------------------------------------------------------------------------------
class Mishaps:
    """What befalls calls: now and then the worker is killed before the call counts, or right after it did."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.worker: Worker | None = None
        self.before: list[str] = []  # ids of calls that did not count
        self.after: list[str] = []  # ids of accepted calls whose response was lost

    def befall(self, id: str) -> bool:
        """Whether a call of this id counts."""
        kind = self.chance.random()
        if kind < 0.15:
            self.before.append(id)
            self.worker.kill()
            return False
        if kind < 0.25:
            self.after.append(id)
            self.worker.kill()
        return True

    def send_until_done(self, now: datetime) -> int:
        """Start workers one after the other until nothing waits; how many that took."""
        workers = 0
        while Message.objects.filter(state="waiting").exists():
            self.worker = Worker(now)
            self.worker.start()
            self.worker.wait()
            workers += 1
            now += LEASE_OF_MAIL + SECOND
        return workers


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_when_workers_are_killed_and_what_comes_twice_says_so(receiver, mail_server):
    person = a_person()
    set_notification_settings(person, most_a_day=1_000)
    phone = a_browser(person, receiver.url("/phone"))
    for name in "abcdefgh":
        find(a_search(person, name, mail="once", push=True, webhook_url=receiver.url("/hook")))
    mishaps = Mishaps(seed=4)
    receiver.behave = lambda call: 200 if mishaps.befall(call.id) else None
    mail_server.behave = lambda mail: "250 OK" if mishaps.befall(mail["message-id"]) else "451 Nobody hears this"
    workers = mishaps.send_until_done(NOON + HOUR)
    assert len(mishaps.before) + len(mishaps.after) == workers - 1 > 5
    arrived = [call.id for call in receiver.taken] + [mail["message-id"] for mail in mail_server.taken]
    assert len(set(arrived)) == 24
    assert Message.objects.filter(state="sent").count() == 24
    # Only what counted while its worker died came again, once for each death.
    assert sorted(arrived) == sorted([*set(arrived), *mishaps.after])
    assert mishaps.after
    assert mishaps.before
    read = [phone.read(call.body)["tag"] for call in receiver.taken if call.path == "/phone"]
    assert {id.replace("-", "") for id in read} == {call.id for call in receiver.taken if call.path == "/phone"}


@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_when_workers_are_killed_at_any_moment(receiver):
    for _ in range(30):
        find(a_search(webhook_url=receiver.url()))
    chance, kills, now = Random(3), 0, NOON + HOUR
    while Message.objects.filter(state="waiting").exists():
        worker = Worker(now)
        worker.start()
        if kills < 6:
            time.sleep(chance.uniform(0.02, 0.3))
            worker.kill()
            kills += 1
        worker.wait()
        now += LEASE + SECOND
    arrived = [call.id for call in receiver.taken]
    assert len(set(arrived)) == Message.objects.filter(state="sent").count() == 30
    assert len(arrived) <= 30 + kills


@pytest.mark.django_db
def test_message_that_kills_its_workers_fails(monkeypatch, receiver):
    class Killed(BaseException):
        pass

    def die(*_, **__):
        raise Killed

    monkeypatch.setitem(all_channels(), "webhook", replace(all_channels()["webhook"], send=die))
    find(a_search(webhook_url=receiver.url()))
    now = NOON
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            deliver(the_message().pk, now=now)
        assert not deliver(the_message().pk, now=now + LEASE - SECOND)  # its lease is not over
        now += LEASE
    assert not deliver(the_message().pk, now=now)
    assert (the_message().state, the_message().error) == ("failed", "Its worker stopped.")


@pytest.mark.django_db
def test_a_message_that_cannot_be_created_is_logged_and_retried(monkeypatch, receiver):
    monkeypatch.setattr("apps.alerts.channels.webhook.post", lambda *_, **__: 1 / 0)
    find(a_search(webhook_url=receiver.url()))
    assert deliver(the_message().pk, now=NOON)
    assert the_message().state == "waiting"
    assert Attempt.objects.get().error == "It could not be created: ZeroDivisionError."


# --- concurrent workers -----------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_of_many_who_send_at_once_one_does(receiver):
    def send(message_id):
        together.wait()
        try:
            return deliver(message_id, now=NOON + HOUR)
        finally:
            connections.close_all()

    together = Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            find(a_search(webhook_url=receiver.url()))
            newest = Message.objects.latest("pk")
            assert sum(threads.map(send, [newest.pk] * 4)) == 1
    assert len({call.id for call in receiver.taken}) == len(receiver.taken) == 5


@pytest.mark.django_db(transaction=True)
def test_many_who_send_at_once_keep_to_the_limit_of_a_day(mail_server):
    def send(message_id):
        together.wait()
        try:
            return deliver(message_id, now=NOON)
        finally:
            connections.close_all()

    person = a_person()
    set_notification_settings(person, most_a_day=2)
    for number in range(4):
        find(a_search(person, str(number), mail="once"))
    together = Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(send, due(NOON))) == 2
    assert len(mail_server.taken) == 2
    assert sum(len(digest.hits) for digest in Message.objects.filter(channel="digest")) == 2


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_a_message_is_sent(receiver):
    """A slow receiver blocks no others: its message can be read and its search deleted meanwhile."""
    arrived, go_on = Event(), Event()

    def answer_slowly(_):
        arrived.set()
        go_on.wait(10)
        return 200

    def send():
        try:
            return deliver(message.pk, now=NOON)
        finally:
            connections.close_all()

    receiver.behave = answer_slowly
    saved = a_search(webhook_url=receiver.url())
    find(saved)
    message = the_message()
    with ThreadPoolExecutor(1) as threads:
        sending = threads.submit(send)
        assert arrived.wait(10)
        saved.delete()
        go_on.set()
        assert sending.result()
    assert len(receiver.taken) == 1
    assert not Message.objects.exists()


@pytest.mark.django_db
def test_slow_worker_does_not_undo_the_result_of_another(receiver, monkeypatch):
    saved = a_search(webhook_url=receiver.url())
    find(saved)
    message = the_message()
    statuses = iter([500, 200])

    def be_overtaken():
        status = next(statuses)
        if status == 500:
            assert deliver(message.pk, now=NOON + LEASE)
        return status

    overtaken = replace(all_channels()["webhook"], send=lambda delivery, now: _as_result(be_overtaken()))
    monkeypatch.setitem(all_channels(), "webhook", overtaken)
    assert deliver(message.pk, now=NOON)
    assert the_message().state == "sent"
    assert sorted(Attempt.objects.values_list("status", flat=True)) == [200, 500]


def _as_result(status):
    return DeliveryResult(status, "" if status == 200 else "No.")


# --- what is shown ----------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_messages_are_read_newest_first_with_their_attempts_in_few_statements(receiver, django_assert_num_queries):
    receiver.behave = lambda _: 404
    person = a_person()
    find(*[a_search(person, name, webhook_url=receiver.url()) for name in "abcde"])
    find(a_search(webhook_url=receiver.url()))
    for _ in range(3):
        send_all(now=NOON + DAY)
        Message.objects.filter(state="waiting").update(due_at=NOON)
    with django_assert_num_queries(2):
        messages = messages_of(person, most=3)
        assert [[attempt.status for attempt in message.log.all()] for message in messages] == [[404] * 3] * 3
        assert [message.saved.name for message in messages] == ["e", "d", "c"]
    rest = messages_of(person, before=messages[-1].pk)
    assert [message.pk for message in messages + rest] == sorted(
        Message.objects.filter(user=person).values_list("pk", flat=True), reverse=True
    )
    assert len(dead_letters(person)) == 5


@pytest.mark.django_db
def test_due_messages_are_enqueued_and_overdue_ones_counted(monkeypatch, receiver):
    sent = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda self, name, args, **_: sent.append(args[0]))
    find(a_search(webhook_url=receiver.url(), mail="day"))
    send_due(now=NOON)
    due = the_message(channel="webhook").pk
    assert sent == [due]
    assert (left_behind(NOON), left_behind(NOON + HOUR)) == (0, 1)
    Message.objects.update(lease_until=NOON + LEASE)
    send_due(now=NOON)
    assert sent == [due]


@pytest.mark.django_db
def test_messages_are_forgotten_a_month_after_they_were_done(receiver):
    saved = a_search(webhook_url=receiver.url(), mail="day")
    find(saved)
    deliver(the_message(channel="webhook").pk, now=NOON)
    forget_old(now=NOON + KEPT - SECOND)
    assert the_message(channel="webhook").state == "sent"
    assert Attempt.objects.exists()
    forget_old(now=NOON + KEPT + SECOND)
    assert the_message().state == "waiting"
    assert not Attempt.objects.exists()


@pytest.mark.django_db
def test_the_task_that_is_sent_for_a_message_delivers_it(monkeypatch, receiver):
    def work(_, name, args, **__):
        app.tasks[name](*args)

    monkeypatch.setattr("celery.app.base.Celery.send_task", work)
    find(a_search(webhook_url=receiver.url()))
    tasks.retry_deliveries()
    tasks.forget_old_messages()
    assert the_message().state == "sent"
    assert len(receiver.taken) == 1
