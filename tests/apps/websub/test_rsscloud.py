"""rssCloud servers are requested to call us, and a call has the source checked."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from apps.retrieval.models import Schedule
from apps.websub.actions import maintain, work
from apps.websub.models import Delivery, Subscription
from tests.apps.retrieval.retrieving import NOW, visit
from tests.apps.websub.conftest import HOUR, a_named_source, a_source_at
from tests.apps.websub.hub import HOST, Answer

pytestmark = pytest.mark.django_db

TOPIC = "https://news.example/feed"
YES = Answer(200, body=b'<?xml version="1.0"?><notifyResult success="true" msg="Thanks."/>')


@pytest.fixture(autouse=True)
def at_noon(clock):
    return clock


@pytest.fixture
def callback(hub) -> str:
    """Our address after a subscription that the server has accepted."""
    hub.answers["/pleaseNotify"] = YES
    a_named_source(f"rsscloud+{hub.url('/pleaseNotify')}", TOPIC)
    maintain(now=NOW)
    return f"/push/{Subscription.objects.get().token}/"


def notify(client, callback: str, **fields: str) -> Delivery:
    answer = client.post(callback, urlencode(fields), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200
    delivery = Delivery.objects.latest("pk")
    work(delivery.pk, now=delivery.received_at)
    delivery.refresh_from_db()
    return delivery


def test_a_feed_names_its_server(hub):
    cloud = f'<cloud domain="{HOST}" port="{hub.port}" path="/pleaseNotify" registerProcedure="" protocol="http-post"/>'
    a_source_at(hub.put("/feed", f'<rss version="2.0"><channel><title>News</title>{cloud}</channel></rss>'))
    maintain(now=NOW)
    [(path, form)] = hub.forms
    assert (path, form["url1"]) == ("/pleaseNotify", hub.url("/feed"))


def test_a_server_gets_our_callback(hub, callback):
    assert hub.form == {
        "notifyProcedure": "",
        "protocol": "https-post",
        "domain": "portal.example",
        "port": "443",
        "path": callback,
        "url1": TOPIC,
    }


def test_a_challenge_is_echoed_for_our_topic(client, callback):
    answer = client.get(callback, {"url": TOPIC, "challenge": "<b>echo</b>"})
    assert (answer.status_code, answer.content) == (200, b"<b>echo</b>")
    assert answer["Content-Type"].startswith("text/plain")
    assert client.get(callback, {"url": "https://other.example/", "challenge": "echo"}).status_code == 404
    assert client.get(callback).status_code == 404


def test_a_websub_hub_gets_no_echo_of_this_kind(hub, client):
    a_named_source(hub.url("/hub"), TOPIC)
    maintain(now=NOW)
    callback = f"/push/{Subscription.objects.get().token}/"
    assert client.get(callback, {"url": TOPIC, "challenge": "echo"}).status_code == 404


def test_a_subscription_lasts_25_hours_and_is_renewed_daily(hub, callback):
    subscription = Subscription.objects.get()
    assert (subscription.state, subscription.expires_at) == ("active", NOW + 25 * HOUR)
    assert Schedule.objects.get().pushed_until == NOW + 25 * HOUR
    assert [maintain(now=NOW + hours * HOUR) for hours in (19, 20, 21)] == [0, 1, 0]
    assert Subscription.objects.get().expires_at == NOW + 45 * HOUR


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, body=b'<notifyResult success="false" msg="No such feed &amp; none like it."/>'),
        Answer(200, body=b'{"success": false, "msg": "No such feed & none like it."}'),
    ],
)
def test_a_refusal_is_a_failure(hub, answer):
    hub.answers["/pleaseNotify"] = answer
    a_named_source(f"rsscloud+{hub.url('/pleaseNotify')}", TOPIC)
    maintain(now=NOW)
    subscription = Subscription.objects.get()
    assert (subscription.state, subscription.failures) == ("pending", 1)
    assert subscription.last_error == "The hub refused the request: No such feed & none like it."


def test_a_call_has_the_source_checked_at_once(client, callback):
    assert notify(client, callback, url=TOPIC).state == "asked"
    assert Schedule.objects.get().due_at == NOW


def test_many_calls_have_it_checked_once_a_minute(client, callback, at_noon):
    source = Subscription.objects.get().source
    notify(client, callback, url=TOPIC)
    visit(source, NOW, b"<rss><channel><title>News</title></channel></rss>")
    for _ in range(3):
        at_noon.shift(10)
        notify(client, callback, url=TOPIC)
    assert Schedule.objects.get().due_at == NOW + timedelta(minutes=1)


@pytest.mark.parametrize("fields", [{}, {"url": "https://other.example/"}, {"link": TOPIC}])
def test_a_call_about_another_topic_is_ignored(client, callback, fields):
    """Servers call without an address to see whether we are there."""
    due_at = Schedule.objects.get().due_at
    assert notify(client, callback, **fields).state == "ignored"
    assert Schedule.objects.get().due_at == due_at


def test_a_call_after_the_end_is_refused(client, callback):
    Schedule.objects.update(due_at=None)
    maintain(now=NOW + HOUR)
    assert Subscription.objects.get().state == "ended"
    assert client.post(callback, {"url": TOPIC}).status_code == 410
