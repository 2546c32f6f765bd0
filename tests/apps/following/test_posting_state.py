"""All that one posting is to one person."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser

from apps.following import actions, queries
from apps.following.queries import readable_by, with_state
from apps.following.queries.states import PlaybackPosition, StateNote, StateTag, posting_state
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("person", ["visitor", "reader", "staff"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("followed", [False, True])
@pytest.mark.parametrize("mark", [None, {"read": True}, {"read": False}, {"starred_at": NOON}])
def test_a_posting_is_readable_unread_and_starred_as_lists_say(person, listed, followed, mark):
    user, other = a_user(is_staff=person == "staff"), a_user()
    source = a_source(listed=listed)
    first = a_posting(source)
    postings = [first, a_posting(source), a_posting(source, published_at=NOON - timedelta(days=9))]
    if followed:
        a_follow(user, source, read_through=first.pk, unread_from=NOON - timedelta(days=1))
    a_follow(other, source)
    for posting in postings:
        a_mark(other, posting, starred_at=NOON, read=False)
        if mark is not None:
            a_mark(user, posting, **mark)
    viewer = AnonymousUser() if person == "visitor" else user
    for posting in postings:
        [seen] = with_state(queries.postings.everything().filter(pk=posting.pk), viewer)
        own = posting_state(viewer, posting.pk)
        assert own.readable == readable_by(viewer).filter(pk=posting.pk).exists()
        assert (own.unread, own.starred) == (seen.unread, seen.starred)


def test_the_state_of_a_posting_takes_one_query(django_assert_num_queries):
    user, posting = a_user(), a_posting()
    a_follow(user, posting.source, title="My paper", full_text="feed", images="blocked")
    actions.marks.write_note(user, posting.pk, "A thought", now=NOON)
    actions.marks.save_position(user, posting.pk, "https://a.example/1.mp3", 61.5, now=NOON)
    secret = actions.marks.share(user, posting.pk, now=NOON).secret
    actions.marks.tag(user, [a_posting().pk], "elsewhere", NOON)
    for name in ("rain", 'Ärger, "quoted"', "a {brace}"):
        actions.marks.tag(user, [posting.pk], name, NOON)
    with django_assert_num_queries(1):
        own = posting_state(user, posting.pk)
    assert (own.source_title, own.full_text, own.images) == ("My paper", "feed", "blocked")
    assert own.note == StateNote("A thought", NOON)
    assert own.place == PlaybackPosition("https://a.example/1.mp3", 61.5)
    assert own.secret == secret
    tags = [StateTag(tag.pk, tag.name) for tag in queries.tags_of(user)]
    assert own.tags == tuple(tag for tag in tags if tag.name != "elsewhere")
    assert own.other_tags == tuple(tag for tag in tags if tag.name == "elsewhere")


@pytest.mark.parametrize("viewer", [AnonymousUser, a_user])
def test_state_of_other_users_is_invisible(viewer):
    user, posting = a_user(), a_posting()
    a_follow(user, posting.source, title="My paper", images="blocked")
    actions.marks.write_note(user, posting.pk, "A thought", now=NOON)
    actions.marks.save_position(user, posting.pk, "https://a.example/1.mp3", 61.5, now=NOON)
    actions.marks.share(user, posting.pk, now=NOON)
    actions.marks.tag(user, [posting.pk], "rain", NOON)
    own = posting_state(viewer(), posting.pk)
    assert (own.source_title, own.full_text, own.images, own.secret) == ("", "", "", "")
    assert (own.note, own.place, own.tags, own.other_tags) == (None, None, (), ())


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**70])
def test_a_missing_posting_has_no_state(number):
    assert posting_state(a_user(), number) is None
