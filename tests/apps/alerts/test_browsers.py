"""Browsers that take notifications."""

from datetime import timedelta

import pytest

from apps.alerts.actions.delivering import deliver
from apps.alerts.actions.rules import MAX_BROWSERS, add_browser, remove_browser
from apps.alerts.models import Browser
from apps.following.actions.errors import NotPossible
from lab.worlds.receivers import SECRET, base64url
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find, the_message
from tests.builders import NOON

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)

KEYS = {"public_key": base64url(b"\4" + bytes(64)), "secret": base64url(SECRET)}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"endpoint": "http://push.example/1"}, "cannot be used"),
        ({"endpoint": "https://127.0.0.1/1"}, "cannot be used"),
        ({"endpoint": "nonsense"}, "cannot be used"),
        ({"endpoint": "https://push.example/" + "x" * 2_000}, "cannot be used"),
        ({"public_key": "short"}, "not valid Web Push keys"),
        ({"secret": "?" * 22}, "not valid Web Push keys"),
    ],
)
def test_invalid_browser_is_rejected(changed, complaint):
    with pytest.raises(NotPossible, match=complaint):
        add_browser(a_person(), **{"endpoint": "https://push.example/1", **KEYS} | changed, now=NOON)


def test_a_browser_that_comes_again_is_the_same_and_has_its_newest_keys():
    person = a_person()
    first = add_browser(person, endpoint="https://push.example/1", **KEYS, name=" My  phone ", now=NOON)
    newer = KEYS | {"secret": base64url(SECRET[::-1])}
    again = add_browser(person, endpoint="https://push.example/1", **newer, name="My phone", now=NOON + DAY)
    assert (again.pk, again.name, again.secret, again.added_at) == (first.pk, "My phone", newer["secret"], NOON)


def test_browser_moves_to_the_user_who_registers_it_last():
    before, after = a_person(), a_person()
    a_browser(before, "https://push.example/1")
    find(a_search(before, push=True))
    a_browser(after, "https://push.example/1")
    assert Browser.objects.get().user == after
    message = the_message()
    assert message.browser is None
    assert not deliver(message.pk, now=NOON)
    assert the_message().state == "dropped"


def test_browsers_of_a_person_are_bounded_and_can_be_removed_by_them_alone():
    person = a_person()
    for number in range(MAX_BROWSERS):
        add_browser(person, endpoint=f"https://push.example/{number}", **KEYS, now=NOON)
    with pytest.raises(NotPossible, match="At most 20 browsers"):
        add_browser(person, endpoint="https://push.example/more", **KEYS, now=NOON)
    browser = Browser.objects.first()
    assert not remove_browser(a_person(), browser.pk)
    assert remove_browser(person, browser.pk)
    assert not remove_browser(person, browser.pk)
