"""The sessions of a user."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from apps.accounts import actions, tasks
from apps.accounts.sessions import SessionStore
from portal.celery import app
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


def test_an_expired_session_is_anonymous():
    client = signed_in(a_user())
    sessions = Session.objects.filter(session_key=client.session.session_key)
    for expires, status in ((timedelta(minutes=1), 200), (timedelta(minutes=-1), 302)):
        sessions.update(expire_date=now() + expires)
        assert client.get(reverse("account")).status_code == status


def test_sessions_of_djangos_store_are_read():
    theirs = db.SessionStore()
    theirs["said"] = "as Django writes it"
    theirs.save()
    assert SessionStore(theirs.session_key)["said"] == "as Django writes it"


@pytest.mark.parametrize("key", ["a" * 32, "short", "nul\x00" * 8, ""])
def test_an_unknown_session_is_anonymous(key):
    client = Client()
    client.cookies["sessionid"] = key
    assert client.get(reverse("account")).status_code == 302


def test_sessions_of_others_cannot_be_ended():
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


def test_expired_sessions_are_purged_with_their_entries(monkeypatch):
    monkeypatch.setattr(actions, "PURGED_AT_ONCE", 2)
    clients = [signed_in(a_user()) for _ in range(6)]
    *over, present = (client.session.session_key for client in clients)
    Session.objects.filter(session_key__in=over).update(expire_date=now() - timedelta(seconds=1))
    UserSession.objects.update(created_at=now() - timedelta(days=2))
    actions.purge_sessions(now=now())
    assert list(Session.objects.values_list("session_key", flat=True)) == [present]
    assert list(UserSession.objects.values_list("session_key", flat=True)) == [present]
    assert clients[-1].get(reverse("account")).status_code == 200


def test_new_entries_stay_until_their_session_is_stored():
    client = signed_in(a_user())
    Session.objects.filter(session_key=client.session.session_key).delete()
    actions.purge_sessions(now=now())
    assert UserSession.objects.count() == 1


def test_sessions_are_purged_every_day():
    [entry] = [entry for entry in app.conf.beat_schedule.values() if entry["task"] == tasks.purge_sessions.name]
    schedule = entry["schedule"]
    assert (len(schedule.hour), len(schedule.minute), len(schedule.day_of_week)) == (1, 1, 7)
    client = signed_in(a_user())
    Session.objects.update(expire_date=now() - timedelta(seconds=1))
    app.tasks[entry["task"]]()
    assert not Session.objects.filter(session_key=client.session.session_key).exists()
