"""Who may sign up, and with what."""

from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts import actions, queries
from apps.accounts.models import Invitation, User
from tests.builders import NOON, a_user

pytestmark = pytest.mark.django_db

WORDS = {"password1": "a long password", "password2": "a long password"}


def sign_up(client, name="ada", **values):
    return client.post(reverse("account_signup"), {"username": name} | WORDS | values)


def invited(client, days=7, by=None):
    client.force_login(by or a_user(is_staff=True))
    link = client.post(reverse("invitations"), {"note": "Ada", "days": days}).context["link"]
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
def test_an_invitation_works_once(client, settings):
    link = invited(client)
    assert client.get(link).url == reverse("account_signup")
    assert sign_up(client).url == reverse("welcome")
    [invitation] = Invitation.objects.all()
    assert invitation.used_by == User.objects.get(username="ada")
    client.logout()
    assert client.get(link).status_code == 404
    sign_up(client, "bob")
    assert not User.objects.filter(username="bob").exists()


@pytest.mark.usefixtures("by_invitation")
def test_viewing_a_link_does_not_use_it_up(client):
    link = invited(client)
    client.get(link)
    client.session.flush()
    assert client.get(link).status_code == 302


@pytest.mark.usefixtures("by_invitation")
def test_a_form_with_a_mistake_uses_nothing_up(client):
    client.get(invited(client))
    sign_up(client, password2="set a new password")
    assert Invitation.objects.get().used_at is None
    assert sign_up(client).url == reverse("welcome")


@pytest.mark.usefixtures("by_invitation")
def test_concurrent_uses_of_a_link_admit_one_user(client, monkeypatch):
    link = invited(client)
    client.get(link)
    seen = queries.invitation_of

    def overtaken(secret, now):
        found = seen(secret, now)
        Invitation.objects.update(used_at=NOON)  # by another user, between view and use
        return found

    monkeypatch.setattr(actions.queries, "invitation_of", overtaken)
    monkeypatch.setattr(queries, "may_sign_up", lambda *_: True)
    answer = sign_up(client)
    assert not User.objects.filter(username="ada").exists()
    assert answer.url == reverse("account_signup")


@pytest.mark.usefixtures("by_invitation")
def test_an_invitation_ends(client):
    inviter = a_user(is_staff=True)
    _, secret = actions.invite(inviter, days=2, now=NOON)
    assert queries.may_sign_up(secret, NOON + timedelta(days=1))
    assert not queries.may_sign_up(secret, NOON + timedelta(days=2))


@pytest.mark.usefixtures("by_invitation")
def test_an_invitation_ends_with_its_author_or_when_revoked():
    inviter = a_user(is_staff=True)
    invitation, secret = actions.invite(inviter, days=2, now=NOON)
    User.objects.filter(pk=inviter.pk).update(is_active=False)
    assert not queries.may_sign_up(secret, NOON)
    User.objects.filter(pk=inviter.pk).update(is_active=True)
    assert queries.may_sign_up(secret, NOON)
    assert actions.take_back_invitation(invitation.pk)
    assert not queries.may_sign_up(secret, NOON)


def test_an_invitation_keeps_its_secret_to_itself():
    invitation, secret = actions.invite(a_user(), days=2, now=NOON)
    assert secret not in str(Invitation.objects.filter(pk=invitation.pk).values().get())


@pytest.mark.parametrize("days", [0, 91])
def test_an_invitation_lasts_neither_for_nothing_nor_for_ever(days):
    with pytest.raises(actions.NotPossible):
        actions.invite(a_user(), days=days, now=NOON)


def test_only_staff_invites(client):
    address = reverse("invitations")
    assert client.get(address).url.startswith(reverse("account_login"))
    client.force_login(a_user())
    assert client.get(address).status_code == 403
    assert client.post(address, {"days": 7}).status_code == 403
    assert client.post(reverse("take_back_invitation", args=[1])).status_code == 403
    assert not Invitation.objects.exists()


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
