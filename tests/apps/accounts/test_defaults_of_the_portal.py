"""Theme and time zone that the operator sets for visitors and new accounts."""

from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from apps.accounts.queries.time_zones import zone_named
from tests.builders import a_user

pytestmark = pytest.mark.django_db


def test_visitors_and_new_accounts_get_the_theme_of_the_portal(client, settings):
    settings.DEFAULT_THEME = "dark"
    assert 'data-theme="dark"' in client.get(reverse("home")).text
    assert a_user().theme == "dark"
    settings.DEFAULT_THEME = "auto"
    assert 'data-theme="auto"' in client.get(reverse("home")).text


def test_a_visitor_can_choose_another_theme(client, settings):
    settings.DEFAULT_THEME = "dark"
    client.cookies["theme"] = "auto"
    assert 'data-theme="auto"' in client.get(reverse("home")).text


def test_those_without_a_zone_get_that_of_the_portal(settings):
    settings.TIME_ZONE = "Europe/Lisbon"
    assert zone_named("") == ZoneInfo("Europe/Lisbon")
