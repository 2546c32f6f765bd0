"""Where people land after signing in, and the time zone of their browser."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth.hashers import make_password
from django.urls import reverse

from apps.accounts.models import User
from tests.builders import a_posting, a_user

pytestmark = pytest.mark.django_db
PASSWORD = "a long password"


def sign_in(client, user, address="") -> str:
    form = {"login": user.username, "password": PASSWORD}
    return client.post(f"{reverse('account_login')}{address}", form).url


def time_on_front_page(client) -> str:
    return re.search(r'<time [^>]*title="([^"]*)"', client.get("/").text)[1]


@pytest.mark.parametrize(("is_staff", "landing"), [(True, "dashboard"), (False, "river")])
def test_staff_land_on_the_dashboard_and_all_others_among_their_articles(client, is_staff, landing):
    user = a_user(password=make_password(PASSWORD), is_staff=is_staff)
    assert sign_in(client, user) == reverse(landing)
    client.logout()
    assert sign_in(client, user, "?next=/trends/") == "/trends/"


def test_visitors_see_times_in_the_zone_of_their_browser(client):
    a_posting(published_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert time_on_front_page(client) == "1 March 2026, 12:00:00 UTC"
    client.cookies["zone"] = "Asia/Tokyo"
    assert time_on_front_page(client) == "1 March 2026, 21:00:00 JST"
    for wrong in ("Asia/Atlantis", "../../etc/passwd", "", "x" * 3_000):
        client.cookies["zone"] = wrong
        assert time_on_front_page(client) == "1 March 2026, 12:00:00 UTC"


def test_the_zone_of_the_browser_is_stored_at_the_sign_in_of_those_who_have_chosen_none(client):
    user, chooser = (a_user(password=make_password(PASSWORD), time_zone=zone) for zone in ("", "Europe/Vienna"))
    client.cookies["zone"] = "Asia/Tokyo"
    for each in (user, chooser):
        client.force_login(each)
        page = client.get(reverse("preferences")).text  # shown before it is stored
        assert "Browser default" in page
        client.session.flush()
        sign_in(client, each)
    zones = dict(User.objects.values_list("pk", "time_zone"))
    assert zones == {user.pk: "Asia/Tokyo", chooser.pk: "Europe/Vienna"}


def test_the_zone_of_the_browser_is_stored_with_a_new_account(client):
    client.cookies["zone"] = "America/Lima"
    form = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD}
    client.post(reverse("account_signup"), form)
    assert User.objects.get(username="ada").time_zone == "America/Lima"


def test_utc_can_be_chosen_against_the_zone_of_the_browser(client):
    user = a_user(password=make_password(PASSWORD))
    client.force_login(user)
    client.post(reverse("preferences"), {"order": "newest", "images": "proxied", "time_zone": "UTC"})
    client.cookies["zone"] = "Asia/Tokyo"
    sign_in(client, user)
    user.refresh_from_db()
    assert user.time_zone == "UTC"


def test_people_who_come_with_feeds_land_where_they_are_imported(client):
    page = client.get("/").text
    address = re.search(r'href="([^"]*)">Import your feeds', page)[1]
    assert 'name="next" value="/opml/"' in client.get(address).text  # the form keeps it
    form = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD, "next": "/opml/"}
    assert client.post(address, form).url == reverse("opml")
