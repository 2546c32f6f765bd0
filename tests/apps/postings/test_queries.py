from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from hypothesis import given
from hypothesis import strategies as st

from apps.postings import queries
from apps.postings.models import Posting
from apps.postings.queries import BadCursor, Cursor
from tests.builders import NOON, a_follow, a_posting, a_source, a_user


@given(st.datetimes(timezones=st.just(UTC)), st.integers(1, 2**62 // 10))
def test_a_cursor_comes_back_as_it_was(at, number):
    assert Cursor.decode(Cursor(at, number).encode()) == Cursor(at, number)


@given(st.text(max_size=40))
def test_any_other_text_is_refused_or_is_a_cursor(text):
    try:
        cursor = Cursor.decode(text)
    except BadCursor:
        return
    assert isinstance(cursor.published_at, datetime)


@pytest.mark.parametrize("text", ["", ".", "1", "1.", ".1", "x.1", "1.x", "1.-1", "9" * 30 + ".1", "1." + "9" * 40])
def test_a_broken_cursor_says_so(text):
    with pytest.raises(BadCursor, match="no place in a list"):
        Cursor.decode(text)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("word", "order", "forward"),
    [(queries.before, queries.newest, True), (queries.after, queries.oldest, False)],
    ids=["newest first", "oldest first"],
)
def test_paging_shows_each_posting_once_even_when_times_are_equal(word, order, forward):
    source = a_source()
    for minute in (0, 0, 0, 1, 1, 2):
        a_posting(source, published_at=NOON - timedelta(minutes=minute))
    whole = list(order(Posting.objects.all()))
    seen = [whole[0]]
    while page := list(order(word(Posting.objects.all(), queries.cursor_of(seen[-1])))[:2]):
        seen.extend(page)
    assert seen == whole


@pytest.mark.django_db
def test_who_may_see_a_posting():
    listed, private = a_posting(a_source(listed=True)), a_posting(a_source())
    follower = a_follow(source=private.source).user
    for person, seen in (
        (AnonymousUser(), {listed}),
        (a_user(), {listed}),
        (follower, {listed, private}),
        (a_user(is_staff=True), {listed, private}),
    ):
        assert set(queries.visible_to(person)) == seen


@pytest.mark.django_db
def test_a_posting_is_seen_once_however_many_follow_its_source():
    posting = a_posting(a_source(listed=True))
    for _ in range(3):
        follow = a_follow(source=posting.source)
    assert list(queries.visible_to(follow.user)) == [posting]
