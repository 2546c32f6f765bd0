"""A posting as lists show it: what the ORM says of it, and only to whom may read it."""

import itertools

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models.functions import Left, Length

from apps.following import actions
from apps.following import queries as following
from apps.stories.queries.front import with_story
from apps.web.pages.rows import EXCERPT, rows
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


def every_kind(reader):
    """A posting for each way in which a person can stand to one, and to its source."""
    ways = itertools.product([True, False], [True, False], [None, True, False], [None, NOON], [0, 10**9])
    for listed, followed, read, starred_at, read_through in ways:
        source = a_source(listed=listed, title="Its own title")
        posting = a_posting(source, text="Words of it. " * 60, url="javascript:alert(1)" if listed else "")
        if followed:
            a_follow(reader, source, read_through=read_through, title="" if listed else "Mine", images="blocked")
        if read is not None or starred_at:
            a_mark(reader, posting, read=read, starred_at=starred_at)
        yield posting.pk


def test_a_row_says_what_the_orm_says_and_hides_what_one_may_not_read():
    reader = a_user()
    a_source(listed=False)
    ids = list(every_kind(reader))[::-1]
    for tagged, name in ((ids[0], "Zebra"), (ids[0], "Ape"), (ids[3], "Ape")):
        actions.marks.tag(reader, [tagged], name, NOON)
    actions.marks.tag(a_user(), ids, "Another person's", NOON)
    for person in (reader, a_user(), AnonymousUser(), a_user(is_staff=True)):
        known = with_story(following.with_state(following.readable_by(person), person)).select_related("source")
        expected = {each.pk: each for each in known.annotate(excerpt=Left("text", EXCERPT), characters=Length("text"))}
        shown = rows(person, ids)
        assert [row.id for row in shown] == [id for id in ids if id in expected]
        for row in shown:
            posting = expected[row.id]
            for name in ("unread", "starred", "title", "excerpt", "characters", "story_id", "published_at", "language"):
                assert getattr(row, name) == getattr(posting, name), name
            follow = following.follow_of(person, posting.source_id)
            assert row.source_title == ((follow.title if follow else "") or posting.source.title)
            tags = following.tags_by_posting(person, [row.id]) if person.is_authenticated else {}
            assert row.own_tags == tuple(tags.get(row.id, ()))
            assert row.url == ""


def test_rows_keep_the_requested_order_in_one_query(django_assert_num_queries):
    source = a_source(listed=True)
    one, two, three = (a_posting(source).pk for _ in range(3))
    with django_assert_num_queries(1):
        assert [row.id for row in rows(AnonymousUser(), [three, one, two, 10**12])] == [three, one, two]
    with django_assert_num_queries(0):
        assert rows(AnonymousUser(), []) == []
