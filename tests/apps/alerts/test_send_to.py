"""Articles sent to other services: the requests as their documentation describes them, retries, and secrets."""

import base64
import json
from datetime import timedelta
from urllib.parse import parse_qs, quote

import pytest
from allauth.account.models import EmailAddress

from apps.alerts.actions import sending
from apps.alerts.actions.delivering import deliver, retry
from apps.alerts.actions.rules import set_notification_settings
from apps.alerts.models import Attempt, Destination, Message
from apps.alerts.queries.messages import due
from apps.alerts.send_to import all_services, settings_of
from apps.following.actions.errors import NotPossible
from extensions.send_to import custom, instapaper, readwise
from tests.apps.alerts.delivering import a_person, a_search, find
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def a_destination(user, service, **settings):
    return sending.add_destination(user, service, settings, name="", now=NOON)


def send(user, *, destination=None, posting=None, **values):
    posting = posting or a_posting(
        a_source(title="The Source"), **{"title": "Storm & floods", "url": "https://news.example/1?a=b"} | values
    )
    return sending.send(user, posting, destination.pk if destination else None, now=NOON)


def deliver_all(now=NOON):
    for message_id in due(now):
        deliver(message_id, now=now)


@pytest.mark.parametrize("name", all_services())
def test_every_service_has_a_form_and_a_label(name):
    service = all_services()[name]
    assert service.label
    assert service.fields
    assert len(name) <= Destination._meta.get_field("service").max_length


def test_wallabag_gets_an_entry_with_a_token_of_its_own_client(receiver):
    receiver.body = b'{"access_token": "secret token", "expires_in": 3600, "token_type": "bearer"}'
    settings = {"client_id": "1_x", "client_secret": "cs", "username": "ada", "password": "p w"}
    user = a_person()
    a_destination(user, "wallabag", server=receiver.url("/bag/"), **settings)
    send(user)
    deliver_all()
    token, entry = receiver.taken
    assert (token.method, token.path) == ("POST", "/bag/oauth/v2/token")
    assert token.headers["content-type"] == "application/x-www-form-urlencoded"
    expected = {"grant_type": "password"} | settings
    assert parse_qs(token.body.decode()) == {name: [value] for name, value in expected.items()}
    assert (entry.method, entry.path) == ("POST", "/bag/api/entries.json")
    assert entry.headers["authorization"] == "Bearer secret token"
    assert entry.headers["content-type"] == "application/json"
    assert entry.message == {"url": "https://news.example/1?a=b", "title": "Storm & floods"}
    assert Message.objects.get().state == "sent"


def test_wallabag_that_answers_without_a_token_is_not_sent_the_article(receiver):
    receiver.body = b"<html>Sign in</html>"
    user = a_person()
    a_destination(
        user, "wallabag", server=receiver.url(""), client_id="a", client_secret="b", username="c", password="d"
    )
    send(user)
    deliver_all()
    assert len(receiver.taken) == 1
    assert Attempt.objects.get().error == "The server's answer contains no access token."


def test_linkding_gets_an_unread_bookmark(receiver):
    receiver.behave = lambda _: 201
    user = a_person()
    a_destination(user, "linkding", server=receiver.url(""), token="t0ken")
    send(user)
    deliver_all()
    [call] = receiver.taken
    assert (call.method, call.path) == ("POST", "/api/bookmarks/")
    assert call.headers["authorization"] == "Token t0ken"
    assert call.message == {"url": "https://news.example/1?a=b", "title": "Storm & floods", "unread": True}


def test_readwise_gets_a_document(receiver, monkeypatch):
    monkeypatch.setattr(readwise, "ADDRESS", receiver.url("/api/v3/save/"))
    user = a_person()
    a_destination(user, "readwise", token="XXX")
    send(user, published_at=NOON)
    deliver_all()
    [call] = receiver.taken
    assert call.headers["authorization"] == "Token XXX"
    assert call.message == {
        "url": "https://news.example/1?a=b",
        "title": "Storm & floods",
        "published_date": "2024-05-01T12:00:00+00:00",
        "saved_using": "Wirebeat",
    }


def test_instapaper_gets_an_address_with_basic_authentication(receiver, monkeypatch):
    monkeypatch.setattr(instapaper, "ADDRESS", receiver.url("/api/add"))
    receiver.behave = lambda _: 201
    user = a_person()
    a_destination(user, "instapaper", username="ada@mail.example", password="pä")
    send(user)
    deliver_all()
    [call] = receiver.taken
    assert base64.b64decode(call.headers["authorization"].removeprefix("Basic ")).decode() == "ada@mail.example:pä"
    assert parse_qs(call.body.decode()) == {"url": ["https://news.example/1?a=b"], "title": ["Storm & floods"]}


def test_mail_goes_to_a_confirmed_address_of_the_account_alone(mail_server):
    user = a_person()
    EmailAddress.objects.create(user=user, email="Notes@mail.example", verified=True)
    EmailAddress.objects.create(user=user, email="new@mail.example", verified=False)
    for address in ("new@mail.example", "other@mail.example"):
        with pytest.raises(NotPossible, match="confirm it first"):
            a_destination(user, "mail", address=address)
    a_destination(user, "mail", address="notes@mail.example")
    send(user, title="Storm\nand floods")
    deliver_all()
    [mail] = mail_server.taken
    assert mail["To"] == "Notes@mail.example"
    assert mail["Subject"] == "Storm and floods"
    assert mail.get_content().splitlines() == ["Storm and floods", "The Source", "", "https://news.example/1?a=b"]


def test_a_custom_address_is_requested_with_encoded_values(receiver):
    user = a_person()
    template = receiver.url("/add?u={url}&t={title}&s={source}")
    a_destination(user, "custom", template=template, way=custom.PORTAL)
    send(user)
    deliver_all()
    [call] = receiver.taken
    assert (call.method, call.body) == ("GET", b"")
    assert call.path == f"/add?u={quote('https://news.example/1?a=b', safe='')}&t=Storm%20%26%20floods&s=The%20Source"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("https://save.example/add", "needs {url}"),
        ("https://{source}.example/?u={url}", "after the name of the server"),
        ("{url}", "after the name of the server"),
        ("ftp://save.example/{url}", "cannot be used"),
        ("https://127.0.0.1/{url}", "private or reserved network"),
    ],
)
def test_a_custom_address_is_one_of_the_web_with_values_behind_its_host(template, reason):
    with pytest.raises(NotPossible, match=reason):
        a_destination(a_person(), "custom", template=template, way=custom.PORTAL)


def test_secrets_are_sent_by_https_alone(settings):
    settings.RETRIEVAL_OPEN_HOSTS = []
    with pytest.raises(NotPossible, match="begin with https://"):
        a_destination(a_person(), "linkding", server="http://links.example", token="t")
    assert settings_of(a_destination(a_person(), "linkding", server="https://links.example/", token="t")) == {
        "server": "https://links.example",
        "token": "t",
    }


def test_settings_are_stored_encrypted_and_lost_with_the_secret_key(receiver, settings):
    user = a_person()
    destination = a_destination(user, "linkding", server=receiver.url(""), token="t0ken")
    assert "t0ken" not in destination.settings
    assert "t0ken" not in base64.urlsafe_b64decode(destination.settings).decode("latin-1")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key"
    send(user)
    deliver_all()
    assert not receiver.calls
    assert "secret key has changed" in Message.objects.get().error
    settings.SECRET_KEY_FALLBACKS = [old]
    assert settings_of(destination)["token"] == "t0ken"


def test_failed_deliveries_are_logged_and_retried(receiver):
    receiver.behave = lambda _: 503
    user = a_person()
    a_destination(user, "linkding", server=receiver.url(""), token="t")
    send(user)
    deliver_all()
    deliver_all()  # not due yet
    assert [attempt.status for attempt in Attempt.objects.all()] == [503]
    receiver.behave = lambda _: 201
    deliver_all(NOON + HOUR)
    assert len(receiver.taken) == 1
    assert [attempt.status for attempt in Attempt.objects.order_by("pk")] == [503, 201]
    assert Message.objects.get().state == "sent"


def test_wrong_credentials_fail_after_three_attempts_and_can_be_retried(receiver):
    receiver.behave = lambda _: 401
    user = a_person()
    a_destination(user, "linkding", server=receiver.url(""), token="t")
    send(user)
    for hours in range(8):
        deliver_all(NOON + hours * HOUR)
    message = Message.objects.get()
    assert (message.state, message.attempts) == ("failed", 3)
    receiver.behave = lambda _: 201
    assert retry(user, message.pk, now=NOON + 9 * HOUR)
    deliver_all(NOON + 9 * HOUR)
    assert len(receiver.taken) == 1


def test_an_article_that_waits_is_not_sent_twice(receiver):
    user, posting = a_person(), a_posting(url="https://news.example/1")
    first = a_destination(user, "linkding", server=receiver.url(""), token="t")
    second = a_destination(user, "custom", template=receiver.url("/?{url}"), way=custom.PORTAL)
    send(user, posting=posting)
    send(user, posting=posting, destination=first)
    send(user, posting=posting, destination=second)
    deliver_all()
    assert len(receiver.taken) == 2
    send(user, posting=posting)  # again, as the user sent it again
    deliver_all()
    assert len(receiver.taken) == 3


def test_only_own_services_and_articles_of_the_web(receiver):
    user, other = a_person(), a_person()
    with pytest.raises(NotPossible, match="Set up a service first"):
        send(user)
    foreign = a_destination(other, "linkding", server=receiver.url(""), token="t")
    with pytest.raises(NotPossible, match="Set up a service first"):
        send(user, destination=foreign)
    assert not sending.remove_destination(user, foreign.pk)
    with pytest.raises(NotPossible, match="no web address"):
        send(other, url="")


def test_the_numbers_are_limited(monkeypatch, receiver):
    monkeypatch.setattr(sending, "MAX_WAITING", 2)
    monkeypatch.setattr(sending, "MAX_DESTINATIONS", 1)
    user = a_person()
    a_destination(user, "readwise", token="t")
    with pytest.raises(NotPossible, match="at most 1 services"):
        a_destination(user, "readwise", token="t")
    send(user)
    send(user)
    with pytest.raises(NotPossible, match="2 articles are waiting"):
        send(user)


def test_a_removed_service_takes_its_waiting_articles_along(receiver):
    user = a_person()
    destination = a_destination(user, "linkding", server=receiver.url(""), token="t")
    send(user)
    assert sending.remove_destination(user, destination.pk)
    deliver_all()
    assert not receiver.calls
    assert not Message.objects.exists()


def test_sent_articles_do_not_count_into_the_daily_limit_of_notifications(receiver):
    user = a_person()
    a_destination(user, "linkding", server=receiver.url(""), token="t")
    set_notification_settings(user, most_a_day=1)
    send(user)
    deliver_all()
    find(a_search(user, mail="once"))
    message = Message.objects.get(channel="mail")
    deliver(message.pk, now=NOON)
    assert Message.objects.get(pk=message.pk).state == "sent"


def test_json_of_requests_is_utf8_with_any_title(receiver):
    user = a_person()
    a_destination(user, "linkding", server=receiver.url(""), token="t")
    send(user, title="“洪水” \N{SMILING FACE WITH SUNGLASSES}")
    deliver_all()
    assert json.loads(receiver.taken[0].body)["title"] == "“洪水” \N{SMILING FACE WITH SUNGLASSES}"
