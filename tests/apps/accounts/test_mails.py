"""Mails about accounts: what they name, and what happens without a mail server."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.urls import reverse

from tests.builders import a_user

pytestmark = pytest.mark.django_db

EVIL = "evil.example"


@pytest.fixture(autouse=True)
def reached_under_any_name(settings):
    settings.ALLOWED_HOSTS = ["*"]
    settings.PROJECT_URL = "https://news.example/wire"
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True


def a_member(client=None, verified=True):
    user = a_user("ada", email="ada@mail.example")
    user.set_password("a long password")
    user.save()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=verified)
    if client is not None:
        client.force_login(user)
    return user


def sent():
    """All that was mailed, headers included."""
    return "\n".join(message.message().as_string() for message in mail.outbox)


def test_no_mail_names_the_host_that_a_request_was_sent_to(client):
    headers = {"HTTP_HOST": EVIL, "HTTP_X_FORWARDED_HOST": EVIL}
    a_member()
    client.post(reverse("account_reset_password"), {"email": "ada@mail.example"}, **headers)
    words = {"password1": "a long password", "password2": "a long password"}
    client.post(reverse("account_signup"), {"username": "bob", "email": "bob@mail.example"} | words, **headers)
    client.logout()
    client.post(reverse("account_signup"), {"username": "eve", "email": "ada@mail.example"} | words, **headers)
    client.login(username="bob", password="a long password")
    change = {"oldpassword": "a long password", "password1": "another long one", "password2": "another long one"}
    client.post(reverse("account_change_password"), change, **headers)
    assert len(mail.outbox) >= 3
    assert EVIL not in sent()
    links = re.findall(r"https?://\S+", "\n".join(message.body for message in mail.outbox))
    assert links
    assert all(link.startswith("https://news.example/wire/accounts/") for link in links)


def test_a_link_in_a_mail_resets_a_password_once(client, settings):
    settings.PROJECT_URL = "https://news.example"
    user = a_member()
    client.post(reverse("account_reset_password"), {"email": "ada@mail.example"})
    [link] = re.findall(r"https://news\.example(\S+)", mail.outbox[0].body)
    form = client.get(link, follow=True)
    assert form.status_code == 200
    words = {"password1": "quite another one", "password2": "quite another one"}
    client.post(form.request["PATH_INFO"], words)
    user.refresh_from_db()
    assert user.check_password("quite another one")
    client.logout()
    assert "already been used" in client.get(link, follow=True).text


def test_a_link_in_a_mail_confirms_an_address(client, settings):
    settings.PROJECT_URL = "https://news.example"
    user = a_member(client, verified=False)
    client.post(reverse("account_email"), {"action_send": "", "email": user.email})
    [link] = re.findall(r"https://news\.example(\S+)", mail.outbox[0].body)
    client.post(link)
    assert EmailAddress.objects.get(user=user).verified


def test_another_address_is_used_when_it_is_confirmed(client, settings):
    settings.PROJECT_URL = "https://news.example"
    user = a_member(client)
    client.post(reverse("account_email"), {"action_add": "", "email": "new@mail.example"})
    client.post(reverse("account_email"), {"action_primary": "", "email": "new@mail.example"})
    user.refresh_from_db()
    assert user.email == "ada@mail.example"
    [link] = re.findall(r"https://news\.example(\S+)", mail.outbox[-1].body)
    client.post(link)
    client.post(reverse("account_email"), {"action_primary": "", "email": "new@mail.example"})
    user.refresh_from_db()
    assert user.email == "new@mail.example"


def test_a_stranger_gets_no_mail_and_learns_nothing(client):
    a_member()
    known = client.post(reverse("account_reset_password"), {"email": "ada@mail.example"})
    mail.outbox.clear()
    unknown = client.post(reverse("account_reset_password"), {"email": "nobody@mail.example"})
    assert known.url == unknown.url
    assert not mail.outbox


def test_requests_for_mails_are_limited(client):
    a_member()
    for _ in range(6):
        last = client.post(reverse("account_reset_password"), {"email": "ada@mail.example"})
    assert last.status_code == 429
    assert 1 <= len(mail.outbox) <= 5


def test_without_a_mail_server_the_pages_say_so(client, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    page = client.get(reverse("account_reset_password")).text
    assert "This portal cannot send mail" in page
    assert "Reset my password" not in page
    a_member(client)
    assert "This portal cannot send mail" in client.get(reverse("account_email")).text


def test_a_missing_mail_server_is_reported_and_breaks_nothing(client, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    a_member()
    answer = client.post(reverse("account_reset_password"), {"email": "ada@mail.example"}, follow=True)
    assert answer.status_code == 200
    assert "could not be sent" in answer.text
