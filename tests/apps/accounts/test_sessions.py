"""Where somebody is signed in."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from apps.accounts.sessions import SessionStore
from tests.builders import a_user

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def signed_in(user, browser=FIREFOX):
    user.set_password("a long password")
    user.save(update_fields=["password"])
    client = Client(headers={"user-agent": browser})
    client.post(reverse("account_login"), {"login": user.username, "password": "a long password"})
    return client


def test_sessions_are_listed_and_one_is_ended():
    user = a_user("ada")
    user.set_password("a long password")
    user.save()
    here, there = (Client(headers={"user-agent": name}) for name in (FIREFOX, "curl/8"))
    for client in (here, there):
        client.post(reverse("account_login"), {"login": "ada", "password": "a long password"})
    page = here.get(reverse("usersessions_list")).text
    assert "Firefox · Linux" in page
    assert "curl" in page
    other = UserSession.objects.get(session_key=there.session.session_key)
    here.post(reverse("end_session", args=[other.pk]))
    assert there.get(reverse("account")).status_code == 302
    assert here.get(reverse("account")).status_code == 200


def test_a_session_that_is_over_is_nobodys():
    client = signed_in(a_user())
    sessions = Session.objects.filter(session_key=client.session.session_key)
    for expires, status in ((timedelta(minutes=1), 200), (timedelta(minutes=-1), 302)):
        sessions.update(expire_date=now() + expires)
        assert client.get(reverse("account")).status_code == status


def test_what_djangos_own_store_wrote_is_read():
    theirs = db.SessionStore()
    theirs["said"] = "as Django writes it"
    theirs.save()
    assert SessionStore(theirs.session_key)["said"] == "as Django writes it"


@pytest.mark.parametrize("key", ["a" * 32, "short", "nul\x00" * 8, ""])
def test_a_session_that_never_was_is_nobodys(key):
    client = Client()
    client.cookies["sessionid"] = key
    assert client.get(reverse("account")).status_code == 302


def test_nobody_ends_the_session_of_somebody_else():
    mine, theirs = signed_in(a_user()), signed_in(a_user())
    session = UserSession.objects.get(session_key=theirs.session.session_key)
    assert mine.post(reverse("end_session", args=[session.pk])).status_code == 404
    assert theirs.get(reverse("account")).status_code == 200


def test_another_password_ends_the_other_sessions():
    user = a_user()
    there = signed_in(user)
    user.refresh_from_db()
    here = Client()
    here.post(reverse("account_login"), {"login": user.username, "password": "a long password"})
    words = {"oldpassword": "a long password", "password1": "another long one", "password2": "another long one"}
    here.post(reverse("account_change_password"), words)
    assert there.get(reverse("account")).status_code == 302
    assert here.get(reverse("account")).status_code == 200
