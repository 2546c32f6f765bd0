from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from hypothesis import given
from hypothesis import strategies as st

from apps.postings import queries
from apps.postings.models import Posting
from apps.postings.queries import BadCursor, Cursor
from apps.sources.models import Source
from tests.builders import NOON, a_follow, a_posting, a_source, a_user, an_edition


@given(st.datetimes(timezones=st.just(UTC)), st.integers(1, 2**62 // 10))
def test_cursor_survives_encoding(at, number):
    assert Cursor.decode(Cursor(at, number).encode()) == Cursor(at, number)


@given(st.text(max_size=40))
def test_any_other_text_is_refused_or_is_a_cursor(text):
    try:
        cursor = Cursor.decode(text)
    except BadCursor:
        return
    assert isinstance(cursor.published_at, datetime)


@pytest.mark.parametrize("text", ["", ".", "1", "1.", ".1", "x.1", "1.x", "1.-1", "9" * 30 + ".1", "1." + "9" * 40])
def test_broken_cursor_is_refused(text):
    with pytest.raises(BadCursor, match="is not a cursor"):
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
def test_neighbours_are_those_that_lists_show_beside_even_when_times_are_equal(django_assert_num_queries):
    source = a_source()
    postings = [a_posting(source, published_at=NOON - timedelta(minutes=minute)) for minute in (3, 0, 0, 2, 0, 1, 1, 5)]
    for minute in (0, 1, 4, 6):
        a_posting(published_at=NOON - timedelta(minutes=minute))  # of other sources
    for posting in postings:
        with django_assert_num_queries(1):
            found = queries.neighbours(posting)
        beside, cursor = queries.of_source(queries.everything(), source.pk), queries.cursor_of(posting)
        newer, older = queries.after(beside, cursor), queries.before(beside, cursor)
        assert found.newer_id == queries.oldest(newer).values_list("pk", flat=True).first()
        assert found.older_id == queries.newest(older).values_list("pk", flat=True).first()


@pytest.mark.django_db
def test_a_posting_comes_whole_with_its_source(django_assert_num_queries):
    carried = [{"url": "https://a.example/1.mp3", "length": 7, "title": "One"}]
    source = a_source(added_at=NOON)
    posting = a_posting(source, enclosures=carried, categories=["a", "b"], claimed_at=NOON, utc_offset=-90, text="ä\n")
    with django_assert_num_queries(1):
        found = queries.with_source(posting.pk)
        known = found.source
    for instance, model in ((found, Posting), (known, Source)):
        stored = model.objects.get(pk=instance.pk)
        for field in model._meta.concrete_fields:
            value, other = (getattr(each, field.attname) for each in (instance, stored))
            assert value == other, field.attname
            assert type(value) is type(other) or isinstance(other, memoryview), field.attname
    assert queries.with_source(posting.pk + 1) is None


@pytest.mark.django_db
def test_earlier_editions_come_the_latest_first():
    posting = a_posting()
    made = [an_edition(posting, replaced_at=NOON + timedelta(minutes=minute)) for minute in (1, 3, 2)]
    an_edition(a_posting())
    found = queries.earlier_editions(posting.pk)
    assert found == [made[1], made[2], made[0]]
    assert (found[0].title, found[0].html, found[0].text) == (made[1].title, made[1].html, made[1].text)


@pytest.mark.django_db
def test_who_may_see_a_posting():
    listed, private = a_posting(a_source(listed=True)), a_posting(a_source())
    follower = a_follow(source=private.source).user
    for person, seen in (
        (AnonymousUser(), {listed}),
        (a_user(), {listed}),
        (follower, {listed, private}),
        (a_user(is_staff=True), {listed}),
    ):
        assert set(queries.visible_to(person)) == seen


@pytest.mark.django_db
def test_posting_is_listed_once_for_any_number_of_followers():
    posting = a_posting(a_source(listed=True))
    for _ in range(3):
        follow = a_follow(source=posting.source)
    assert list(queries.visible_to(follow.user)) == [posting]
