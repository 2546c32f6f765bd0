"""Who may sign up, and with what."""

import time

import pytest
from django.core import signing
from django.urls import reverse

from apps.accounts import queries
from apps.accounts.models import User
from tests.builders import a_user

pytestmark = pytest.mark.django_db

WORDS = {"password1": "a long password", "password2": "a long password"}


def sign_up(client, name="ada", **values):
    return client.post(reverse("account_signup"), {"username": name} | WORDS | values)


def invited(client):
    client.force_login(a_user(is_staff=True))
    link = client.post(reverse("invitations")).context["link"]
    client.logout()
    return link.removeprefix("https://news.example")


@pytest.fixture
def by_invitation(settings):
    settings.SIGN_UP = "invited"
    settings.PROJECT_URL = "https://news.example"


def test_open_sign_up_needs_no_invitation(client):
    assert sign_up(client).url == reverse("welcome")
    assert User.objects.filter(username="ada").exists()


@pytest.mark.parametrize(("who", "words"), [("closed", "not accept new accounts"), ("invited", "need an invitation")])
def test_the_page_explains_closed_sign_up(client, settings, who, words):
    settings.SIGN_UP = who
    assert words in client.get(reverse("account_signup")).text
    assert words in sign_up(client).text
    assert not User.objects.exists()


def test_a_closed_portal_offers_no_sign_up(client, settings):
    settings.SIGN_UP = "closed"
    assert reverse("account_signup") not in client.get(reverse("account_login")).text


@pytest.mark.usefixtures("by_invitation")
def test_everyone_with_the_link_can_sign_up(client):
    link = invited(client)
    for name in ("ada", "bob"):
        assert client.get(link).url == reverse("account_signup")
        assert sign_up(client, name).url == reverse("welcome")
        client.logout()
    sign_up(client, "eve")  # without the link
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.usefixtures("by_invitation")
def test_a_form_with_a_mistake_can_be_sent_again(client):
    client.get(invited(client))
    sign_up(client, password2="set a new password")
    assert sign_up(client).url == reverse("welcome")


@pytest.mark.usefixtures("by_invitation")
def test_an_invitation_that_ends_while_the_form_is_open_is_refused(client, monkeypatch):
    client.get(invited(client))
    open_until_the_form = iter([True, False])
    monkeypatch.setattr(queries, "may_sign_up", lambda _: next(open_until_the_form, False))
    answer = sign_up(client)
    assert answer.url == reverse("account_signup")
    assert not User.objects.exclude(is_staff=True).exists()


@pytest.mark.usefixtures("by_invitation")
def test_an_invitation_ends_after_a_week_or_with_its_author(monkeypatch):
    inviter = a_user(is_staff=True)
    secret = queries.invitation_by(inviter)
    assert queries.may_sign_up(secret)
    assert not queries.may_sign_up(f"{secret}x")
    assert not queries.may_sign_up("")
    User.objects.filter(pk=inviter.pk).update(is_active=False)
    assert not queries.may_sign_up(secret)
    User.objects.filter(pk=inviter.pk).update(is_active=True)
    later = time.time() + queries.INVITED_FOR.total_seconds() + 1
    monkeypatch.setattr(signing.time, "time", lambda: later)
    assert not queries.may_sign_up(secret)


def test_only_staff_invites(client):
    address = reverse("invitations")
    assert client.get(address).url.startswith(reverse("account_login"))
    client.force_login(a_user())
    assert client.get(address).status_code == 403
    assert client.post(address, {"days": 7}).status_code == 403


def test_sign_ups_are_limited(client):
    answers = [sign_up(client, f"x{number}", password2="other").status_code for number in range(21)]
    assert answers[-1] == 429
    assert 429 not in answers[:20]


def test_guesses_of_a_password_are_limited_across_host_names(client, settings):
    settings.ALLOWED_HOSTS = ["*"]
    user = a_user("ada")
    user.set_password("a long password")
    user.save()
    for number in range(6):
        guess = {"login": "ada", "password": f"guess {number}"}
        page = client.post(reverse("account_login"), guess, HTTP_HOST=f"name{number}.example")
    assert "Too many failed login attempts" in page.text
    right = client.post(reverse("account_login"), {"login": "ada", "password": "a long password"})
    assert "Too many failed login attempts" in right.text


def test_behind_a_proxy_users_are_distinguished_by_their_addresses(client, settings):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    for number in range(21):
        ours = {"HTTP_X_FORWARDED_FOR": f"198.51.100.1, 203.0.113.{number}"}
        assert client.post(reverse("account_signup"), {"username": "x"}, **ours).status_code == 200


def test_admins_use_the_same_sign_in(client):
    answer = client.get("/admin/login/?next=/admin/")
    assert answer.url.startswith(reverse("account_login"))
    client.force_login(a_user())
    assert client.get("/admin/login/").status_code == 403
