"""Messages to browsers, as they decrypt them."""

import json
from datetime import timedelta

import pytest
import time_machine
from py_vapid import Vapid02

from apps.alerts.actions.delivering import deliver
from apps.alerts.channels.push import public_push_key
from apps.alerts.models import Browser, Message, VapidKey
from apps.alerts.queries.messages import due, messages_of
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find, from_base64url, the_message
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return a_person()


@pytest.fixture
def phone(person, receiver):
    return a_browser(person, receiver.url("/browser/1"))


def send_all(*, now=NOON):
    for message_id in due(now):
        deliver(message_id, now=now)


def test_only_the_browser_can_decrypt_its_message(person, phone, receiver):
    posting = a_posting(a_source(title="The Source"), title="Paris — wakes")
    find(a_search(person, "Mine", push=True), postings=[posting])
    send_all()
    [call] = receiver.taken
    assert phone.read(call.body) == {
        "title": "Mine",
        "body": "Paris — wakes\nThe Source",
        "url": f"https://portal.example/posting/{posting.pk}/",
        "tag": str(the_message().key),
    }
    assert b"Paris" not in call.body
    stranger = a_browser(a_person(), receiver.url("/browser/2"))
    with pytest.raises(Exception, match="Decryption"):
        stranger.read(call.body)


def test_several_hits_are_one_message_that_leads_to_all_of_them(person, phone, receiver):
    saved = a_search(person, "Mine", push=True)
    find(saved, postings=[a_posting(title=f"Title {number}") for number in range(5)])
    send_all()
    payload = phone.read(receiver.taken[0].body)
    assert payload["title"] == "Mine: 5 new"
    assert payload["body"] == "Title 0\nTitle 1\nTitle 2"
    assert payload["url"] == f"https://portal.example/search/saved/{saved.pk}/found/"


def test_the_push_service_learns_who_calls_and_how_long_it_should_keep_it(person, phone, receiver):
    with time_machine.travel(NOON, tick=False):
        find(a_search(person, push=True))
        send_all()
        [call] = receiver.taken
        assert Vapid02.verify(call.headers["authorization"])
    scheme, _, parts = call.headers["authorization"].partition(" ")
    named = dict(part.split("=", 1) for part in parts.split(","))
    claims = json.loads(from_base64url(named["t"].split(".")[1]))
    assert (scheme, named["k"]) == ("vapid", public_push_key())
    assert claims["aud"] == f"http://{receiver.host}:{receiver.port}"
    assert NOON.timestamp() < claims["exp"] <= (NOON + timedelta(days=1)).timestamp()
    assert claims["sub"] == "mailto:wirebeat@localhost"
    assert call.headers["content-encoding"] == "aes128gcm"
    assert int(call.headers["ttl"]) == 86_400
    assert call.headers["topic"] == the_message().key.hex


def test_the_portals_key_is_made_once():
    assert public_push_key() == public_push_key()
    assert VapidKey.objects.count() == 1
    assert len(from_base64url(public_push_key())) == 65


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_is_gone_is_forgotten_and_the_log_is_kept(person, phone, receiver, status):
    receiver.behave = lambda _: status
    other = a_browser(person, receiver.url("/browser/2")).row
    find(a_search(person, push=True), now=NOON)
    deliver(the_message(browser=phone.row).pk, now=NOON)
    assert Browser.objects.get() == other
    [kept] = [message for message in messages_of(person) if message.state == "failed"]
    assert [attempt.status for attempt in kept.log.all()] == [status]
    assert (kept.browser, kept.error) == (None, f"The server answered with status {status}.")


def test_failed_push_is_retried_with_the_same_topic(person, phone, receiver):
    answers = iter([503, None, 201])
    receiver.behave = lambda _: next(answers)
    find(a_search(person, push=True))
    for _ in range(3):
        send_all(now=the_message().due_at)
    assert the_message().state == "sent"
    assert len({call.headers["topic"] for call in receiver.calls}) == 1
    assert len({phone.read(call.body)["tag"] for call in receiver.calls}) == 1
    assert len({call.body for call in receiver.calls}) == 3  # each encrypted with another key


def test_each_browser_of_a_user_is_notified(person, phone, receiver):
    second = a_browser(person, receiver.url("/browser/2"))
    find(a_search(person, push=True))
    send_all()
    read = {call.path: (phone if call.path.endswith("1") else second).read(call.body) for call in receiver.taken}
    assert len(read) == 2
    assert Message.objects.filter(state="sent").count() == 2


def test_the_longest_words_fit_into_a_message(person, phone, receiver):
    find(a_search(person, "é" * 100, push=True), postings=[a_posting(title="📰" * 5_000) for _ in range(9)])
    send_all()
    [call] = receiver.taken
    assert len(call.body) <= 4_096
    assert phone.read(call.body)["body"].startswith("📰")
