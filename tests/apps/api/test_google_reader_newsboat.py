"""Debian's newsboat reads the portal in FeedHQ's dialect, and the portal agrees with what was done there."""

import pytest

from apps.following import actions, queries
from apps.following.queries import Scope
from apps.web.pages.sidebar import sidebar
from tests.apps.api.google_reader import Program
from tests.apps.api.newsboat import EDIT_FLAGS, ENTER, PROGRAM, Newsboat
from tests.builders import NOON, a_follow, a_source, a_user, some_postings

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(PROGRAM is None, reason="newsboat is not installed"),
]


@pytest.fixture
def person():
    return a_user("ada")


@pytest.fixture
def newsboat(person, live_server, tmp_path):
    def fresh(name: str) -> Newsboat:
        """A newsboat that remembers nothing yet."""
        directory = tmp_path / name
        directory.mkdir()
        return Newsboat(
            directory,
            [
                'urls-source "feedhq"',
                f'feedhq-url "{live_server.url}/"',
                'feedhq-login "ada"',
                f'feedhq-password "{Program(person).secret}"',
                "feedhq-show-special-feeds no",
                'feedhq-flag-star "s"',
                'feedhq-flag-share "a"',
            ],
        )

    return fresh


def unread(person) -> set[int]:
    return set(queries.unread(queries.postings_in(person, Scope("all")), person).values_list("pk", flat=True))


def starred(person) -> set[int]:
    return set(queries.postings_in(person, Scope("starred")).values_list("pk", flat=True))


def test_newsboat_reads_marks_and_stars(person, newsboat):
    source = a_source(title="The Times")
    a_follow(person, source)
    newest, older, oldest = (posting.pk for posting in some_postings(3, source))
    first = newsboat("first")
    assert "3 unread articles" in first.run("reload", "print-unread")
    with first.screen() as screen:
        screen.wait_for("The Times")
        screen.press(ENTER)
        screen.wait_for("Posting")
        screen.press(ENTER)
        screen.wait_for("Words of posting")
        screen.press("q")
        screen.wait_until(lambda: len(unread(person)) == 2)
        [read] = {newest, older, oldest} - unread(person)
        screen.press(EDIT_FLAGS, "s", ENTER)
        screen.wait_until(lambda: starred(person) == {read})
        screen.press(EDIT_FLAGS, "a", ENTER)
        screen.wait_until(lambda: queries.shares_of(person).filter(posting=read).exists())
        screen.press("N")
        screen.wait_until(lambda: read in unread(person))
        assert sidebar(person).unread == 3
        screen.press("q", "A")
        screen.wait_until(lambda: not unread(person))
    assert sidebar(person).unread == 0
    assert starred(person) == {read}


def test_newsboat_gets_changes_made_elsewhere(person, newsboat):
    source = a_source(title="The Times")
    a_follow(person, source)
    newest, older, oldest = (posting.pk for posting in some_postings(3, source))
    actions.marks.mark_read(person, [newest, oldest], read=True, now=NOON)
    reader = newsboat("reader")
    assert "1 unread articles" in reader.run("reload", "print-unread")
    assert "1 unread articles" in reader.run("reload", "print-unread")  # answered 304
    actions.marks.mark_read(person, [newest], read=False, now=NOON)
    assert "2 unread articles" in reader.run("reload", "print-unread")
    actions.marking.mark_all_read(person, Scope("all"), shown_at=NOON.replace(year=2030), now=NOON)
    assert "0 unread articles" in reader.run("reload", "print-unread")
    assert older not in unread(person)


def test_a_revoked_token_opens_nothing(person, newsboat):
    a_follow(person, a_source())
    reader = newsboat("reader")
    person.app_tokens.all().delete()
    with pytest.raises(AssertionError, match="Authentication failed"):
        reader.run("reload", "print-unread")
