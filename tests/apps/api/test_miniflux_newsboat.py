"""Debian's newsboat reads here as if we were a Miniflux; the portal's own reads agree afterwards.

Its version 2.21 cannot star over Miniflux' API.
"""

import pytest

from apps.accounts.actions import make_token
from apps.following import queries
from tests.apps.api.newsboat import ENTER, PROGRAM, Newsboat
from tests.builders import NOON, a_folder, a_follow, a_source, some_postings

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(PROGRAM is None, reason="newsboat is not installed"),
]


@pytest.fixture
def reader(tmp_path, live_server, person):
    return a_reader(tmp_path, live_server, make_token(person, "Desk", ["read", "write"], now=NOON)[1])


def a_reader(directory, live_server, secret):
    directory.mkdir(exist_ok=True)
    return Newsboat(
        directory,
        [
            'urls-source "miniflux"',
            f'miniflux-url "{live_server.url}"',
            'miniflux-login "Ada"',
            f'miniflux-password "{secret}"',
        ],
    )


@pytest.fixture
def daily(person):
    """A source in a folder, with three postings."""
    source = a_source(title="The Daily")
    a_follow(person, source, folders=(a_folder(person, "Papers"),))
    some_postings(3, source)
    return source


def test_it_signs_in_and_lists(reader, person, daily):
    some_postings(2, a_follow(person).source)
    assert "5 unread articles" in reader.run("reload", "print-unread")


def test_a_wrong_token_opens_nothing(tmp_path, live_server, daily):
    stranger = a_reader(tmp_path / "other", live_server, "wb_guessed")
    with pytest.raises(AssertionError, match="haven't configured any feeds"):
        stranger.run("reload", "print-unread")


def test_marks_of_newsboat_reach_the_portal(reader, person, daily):
    reader.run("reload")
    with reader.screen() as screen:
        screen.wait_for("The Daily")
        screen.press(ENTER)
        screen.wait_for("Posting")
        screen.press(ENTER)
        screen.wait_for("Words of posting")
        screen.press("q")
        screen.wait_until(lambda: queries.unread_counts(person) == {daily.pk: 2})
        screen.press("N")
        screen.wait_until(lambda: queries.unread_counts(person) == {daily.pk: 3})
    assert "3 unread articles" in reader.run("reload", "print-unread")


def test_a_feed_marked_read_there_is_read_here(reader, person, daily):
    reader.run("reload")
    with reader.screen() as screen:
        screen.wait_for("The Daily")
        screen.press("A")
        screen.wait_until(lambda: queries.unread_counts(person) == {})
    assert "0 unread articles" in reader.run("reload", "print-unread")


def test_marks_of_the_portal_reach_newsboat(reader, person, client, daily):
    assert "3 unread articles" in reader.run("reload", "print-unread")
    client.force_login(person)
    client.post("/river/read/", {"scope": "all-0", "shown_at": "2100-01-01T00:00:00+00:00"})
    assert "0 unread articles" in reader.run("reload", "print-unread")
