"""Calls of webhooks as their receivers get them."""

import base64
import hmac
import socket
from datetime import timedelta
from random import Random

import pytest

from apps.alerts.actions.delivering import MAX_CALLS, deliver, retry
from apps.alerts.actions.rules import set_rule
from apps.alerts.channels import webhook
from apps.alerts.models import Attempt, Message, Rule
from apps.alerts.queries.messages import dead_letters, due
from apps.following.actions.errors import NotPossible
from tests.apps.alerts.delivering import a_person, a_search, find, the_message
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)


def send_all(*, now=NOON):
    for message_id in due(now):
        deliver(message_id, now=now)


def send_until_done(*, now=NOON):
    """Send whenever something is due, for as long as anything waits."""
    while waiting := Message.objects.filter(state="waiting").order_by("due_at").first():
        now = max(now, waiting.due_at)
        send_all(now=now)
    return now


def is_signed(call, secret):
    """As a receiver checks it."""
    signed = f"{call.headers['webhook-id']}.{call.headers['webhook-timestamp']}.".encode() + call.body
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, "sha256").digest()
    return call.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_webhook_gets_signed_hits(receiver):
    saved = a_search(name="Mine", webhook_url=receiver.url("/news?of=paris"))
    posting = a_posting(a_source(title="The Source"), title="Paris", url="https://news.example/1")
    find(saved, postings=[posting])
    send_all()
    [call] = receiver.taken
    assert call.path == "/news?of=paris"
    assert call.headers["content-type"] == "application/json"
    assert call.headers["webhook-id"] == str(the_message().key)
    assert call.headers["webhook-timestamp"] == str(int(NOON.timestamp()))
    assert is_signed(call, Rule.objects.get().webhook_secret)
    assert call.message == {
        "type": "search.found",
        "timestamp": "2024-05-01T12:00:00+00:00",
        "data": {
            "search": {"id": saved.pk, "name": "Mine", "query": "paris"},
            "hits": [
                {
                    "title": "Paris",
                    "url": "https://news.example/1",
                    "page": f"https://portal.example/posting/{posting.pk}/",
                    "source": "The Source",
                    "published_at": "2024-05-01T11:00:00+00:00",
                }
            ],
        },
    }


@pytest.mark.parametrize("count", [16, pytest.param(40, marks=pytest.mark.trial)])
def test_all_is_delivered_once_by_a_receiver_that_fails_half_the_time(receiver, count):
    chance = Random(7)
    receiver.behave = lambda _: chance.choice([200, 204, 202, 500, 503, None])
    for _ in range(count):
        find(a_search(webhook_url=receiver.url()))
    now = send_until_done(now=NOON + DAY)
    for letter in Message.objects.filter(state="failed"):  # seven times in a row
        assert retry(letter.user, letter.pk, now=now)
    send_until_done(now=now)
    keys = [call.id for call in receiver.taken]
    assert len(keys) == len(set(keys)) == count
    assert set(keys) == {str(message.key) for message in Message.objects.filter(state="sent")}
    assert Attempt.objects.count() == len(receiver.calls) > 1.5 * count
    assert len({call.body for call in receiver.calls}) == count  # each says the same at each attempt


def test_attempts_are_ever_further_apart_until_the_letter_is_dead_and_can_be_revived(receiver):
    receiver.behave = lambda _: 500
    saved = a_search(webhook_url=receiver.url())
    find(saved)
    waits, now = [], NOON
    while the_message().state == "waiting":
        now = the_message().due_at
        send_all(now=now)
        waits.append(round((the_message().due_at - now) / timedelta(minutes=1)))
    assert waits[:-1] == [1, 5, 30, 120, 360, 720]
    [letter] = dead_letters(saved.user)
    assert letter.error == "The server answered with status 500."
    assert [attempt.status for attempt in letter.log.all()] == [500] * 7
    receiver.behave = lambda _: 200
    assert not retry(a_person(), letter.pk, now=now)
    assert retry(saved.user, letter.pk, now=now)
    assert not retry(saved.user, letter.pk, now=now)
    send_all(now=now)
    assert the_message().state == "sent"
    assert receiver.taken[0].id == str(letter.key)


@pytest.mark.parametrize(("status", "attempts"), [(400, 3), (404, 3), (410, 3), (408, 7), (429, 7), (500, 7)])
def test_permanent_error_ends_retries_early(receiver, status, attempts):
    receiver.behave = lambda _: status
    find(a_search(webhook_url=receiver.url()))
    send_until_done()
    assert (the_message().state, the_message().attempts, len(receiver.calls)) == ("failed", attempts, attempts)


@pytest.mark.parametrize(("retry_after", "wait"), [("3600", 3_600), ("5", 60), ("999999999", 86_400), ("soon", 60)])
def test_retry_after_delays_the_next_attempt(receiver, retry_after, wait):
    receiver.behave, receiver.headers = lambda _: 429, {"Retry-After": retry_after}
    find(a_search(webhook_url=receiver.url()))
    send_all()
    assert wait <= (the_message().due_at - NOON).total_seconds() < wait + 5


def test_unreachable_webhook_is_retried():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and does not listen
        find(a_search(webhook_url=f"http://hooks.alerts.localhost:{silent.getsockname()[1]}/"))
        send_all()
    assert the_message().state == "waiting"
    assert Attempt.objects.get().error.startswith("The connection to the server failed")


def test_an_answer_of_any_length_is_a_yes_and_is_not_read(receiver):
    receiver.headers = {"Content-Encoding": "nonsense"}
    find(a_search(webhook_url=receiver.url()))
    send_all()
    assert the_message().state == "sent"


# --- where webhooks may not lie ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:{port}/", "http://localhost:{port}/"]
)
def test_internal_addresses_are_not_called(receiver, address):
    saved = a_search(webhook_url="https://hooks.example/")
    Rule.objects.update(webhook_url=address.format(port=receiver.port))
    find(saved)
    send_until_done()
    assert not receiver.calls
    assert (the_message().state, the_message().attempts) == ("failed", 3)
    assert the_message().error == "Its address is in a private or reserved network; nothing was sent."


def test_a_name_that_stands_for_an_address_inside_is_not_called(receiver, monkeypatch):
    results = [(2, 1, 6, "", ("127.0.0.1", receiver.port))]
    monkeypatch.setattr("apps.retrieval.http.guard._look_up", lambda *_: results)
    find(a_search(webhook_url=f"http://rebound.example:{receiver.port}/"))
    send_all()
    assert not receiver.calls
    assert "private or reserved network" in the_message().error


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(receiver, status):
    receiver.behave = lambda call: status
    receiver.headers = {"Location": receiver.url("/elsewhere")}
    find(a_search(webhook_url=receiver.url()))
    send_until_done()
    assert {call.path for call in receiver.calls} == {"/hook"}
    assert (the_message().state, the_message().attempts) == ("failed", 3)
    assert "redirects" in the_message().error


def test_a_dead_receiver_holds_few_of_us_at_a_time(receiver):
    saved, other = a_search(webhook_url=receiver.url()), a_search(webhook_url=receiver.url())
    for _ in range(MAX_CALLS):
        find(saved)
        Message.objects.update(lease_until=NOON + 30 * SECOND, attempts=1)
    find(saved, other)
    ours = the_message(saved=saved, attempts=0)
    assert not deliver(ours.pk, now=NOON)
    assert deliver(the_message(saved=other).pk, now=NOON)
    assert deliver(ours.pk, now=NOON + 31 * SECOND)


def test_slow_receivers_get_fewer_and_longer_messages(receiver, monkeypatch):
    monkeypatch.setattr("apps.alerts.actions.delivering.MAX_TROUBLED", 5)
    receiver.behave = lambda _: 500
    saved = a_search(webhook_url=receiver.url())
    for number in range(25):
        find(saved, now=NOON + number * SECOND / 2)
        send_all(now=NOON + number * SECOND / 2)
    assert len(receiver.calls) == 5
    assert len(the_message(attempts=0).hits) == 20
    receiver.behave = lambda _: 200
    send_until_done(now=NOON + DAY)
    pages = [hit["page"] for call in receiver.taken for hit in call.message["data"]["hits"]]
    assert len(pages) == len(set(pages)) == 25


def test_dead_webhooks_of_one_user_do_not_delay_others(receiver, monkeypatch):
    monkeypatch.setattr("apps.alerts.queries.messages.MAX_OF_ONE", 2)
    monkeypatch.setattr("apps.alerts.queries.messages.MAX_DUE", 4)
    person = a_person()
    for name in "abcdef":
        find(a_search(person, name, webhook_url=receiver.url()))
    other = a_search(webhook_url=receiver.url())
    find(other, now=NOON + SECOND)
    assert [Message.objects.get(pk=pk).user for pk in due(NOON + SECOND)] == [person, person, other.user]


# --- trying one -------------------------------------------------------------------------------------------------------
def test_a_webhook_can_be_tried(receiver):
    saved = a_search(webhook_url=receiver.url())
    assert webhook.test_webhook(saved.user, saved.pk, now=NOON).status == 200
    [call] = receiver.taken
    assert call.message["type"] == "search.test"
    assert is_signed(call, Rule.objects.get().webhook_secret)
    receiver.behave = lambda _: 500
    assert webhook.test_webhook(saved.user, saved.pk, now=NOON).error == "The server answered with status 500."
    assert not Message.objects.exists()


def test_only_ones_own_webhook_can_be_tried(receiver):
    saved = a_search(webhook_url=receiver.url())
    with pytest.raises(NotPossible, match="no webhook"):
        webhook.test_webhook(a_person(), saved.pk, now=NOON)
    set_rule(saved.user, saved.pk)
    with pytest.raises(NotPossible, match="no webhook"):
        webhook.test_webhook(saved.user, saved.pk, now=NOON)
    assert not receiver.calls


def test_a_rule_that_lost_its_webhook_drops_what_waits(receiver):
    saved = a_search(webhook_url=receiver.url())
    find(saved)
    set_rule(saved.user, saved.pk)
    send_all()
    assert the_message().state == "dropped"
    assert not receiver.calls
