"""What is unread to a person, told by three places that must agree."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.following import actions, queries
from apps.following.models import Mark
from apps.following.queries import Scope
from apps.postings.models import Posting
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("hours_after_follow", "read", "unread"),
    [
        (1, None, True),
        (0, None, True),
        (-1, None, False),
        (1, True, False),
        (1, False, True),
        (-1, False, True),
        (-1, True, False),
    ],
)
def test_unread_is_what_came_since_the_follow_or_was_marked_so(hours_after_follow, read, unread):
    follow = a_follow(unread_from=NOON)
    posting = a_posting(follow.source, published_at=NOON + timedelta(hours=hours_after_follow))
    if read is not None:
        a_mark(follow.user, posting, read=read)

    assert queries.with_state(Posting.objects.all(), follow.user).get().unread is unread
    assert queries.unread_counts(follow.user) == ({follow.source_id: 1} if unread else {})


def test_a_star_alone_says_nothing_of_reading():
    follow = a_follow()
    posting = a_posting(follow.source)
    actions.star(follow.user, posting.pk, starred=True, now=NOON)
    seen = queries.with_state(Posting.objects.all(), follow.user).get()
    assert seen.unread
    assert seen.starred


def test_a_posting_of_a_source_that_one_does_not_follow_is_not_unread():
    a_posting()
    assert not queries.with_state(Posting.objects.all(), a_user()).get().unread


def test_people_do_not_see_each_others_marks():
    reader, other = a_user(), a_user()
    posting = a_posting()
    for person in (reader, other):
        a_follow(person, posting.source)
    actions.mark_read(reader, [posting.pk], read=True, now=NOON)
    actions.star(reader, posting.pk, starred=True, now=NOON)
    seen = queries.with_state(Posting.objects.all(), other).get()
    assert (seen.unread, seen.starred) == (True, False)


def test_starring_and_reading_leave_each_other_alone():
    follow = a_follow()
    posting = a_posting(follow.source)
    actions.star(follow.user, posting.pk, starred=True, now=NOON)
    actions.mark_read(follow.user, [posting.pk], read=True, now=NOON)
    actions.star(follow.user, posting.pk, starred=False, now=NOON)
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at) == (True, None)


class TestMarksInAnyOrder(TestCase):
    @settings(deadline=None, max_examples=40)
    @given(
        offsets=st.lists(st.integers(-3, 3), min_size=1, max_size=6),
        marks=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["read", "unread", "star", "all"])), max_size=8),
    )
    def test_counts_and_lists_tell_the_same(self, offsets, marks):
        follow = a_follow(unread_from=NOON)
        postings = [a_posting(follow.source, published_at=NOON + timedelta(hours=offset)) for offset in offsets]
        unread = {posting.pk for posting, offset in zip(postings, offsets, strict=True) if offset >= 0}
        for index, kind in marks:
            posting = postings[index % len(postings)]
            if kind == "star":
                actions.star(follow.user, posting.pk, starred=True, now=NOON)
            elif kind == "all":
                actions.mark_all_read(follow.user, Scope("all"), shown_at=NOON + timedelta(days=1), now=NOON)
                unread.clear()
            else:
                actions.mark_read(follow.user, [posting.pk], read=kind == "read", now=NOON)
                (unread.discard if kind == "read" else unread.add)(posting.pk)

        listed = queries.unread(queries.postings_in(follow.user, Scope("all")), follow.user)
        assert set(listed.values_list("pk", flat=True)) == unread
        assert sum(queries.unread_counts(follow.user).values()) == len(unread)


def test_mark_all_leaves_alone_what_reached_us_after_the_page_was_made():
    follow = a_follow()
    shown = a_posting(follow.source, published_at=NOON, retrieved_at=NOON)
    late = a_posting(follow.source, published_at=NOON - timedelta(hours=1), retrieved_at=NOON + timedelta(minutes=2))
    shown_at = NOON + timedelta(minutes=1)
    assert actions.mark_all_read(follow.user, Scope("all"), shown_at=shown_at, now=NOON).count == 1
    left = queries.unread(queries.postings_in(follow.user, Scope("all")), follow.user)
    assert list(left) == [late]
    assert Mark.objects.get().posting == shown


def test_mark_all_marks_only_its_list():
    user = a_user()
    inner = a_folder(user, "Inner", parent=a_folder(user, "Outer"))
    inside, outside = a_follow(user, folders=(inner,)), a_follow(user)
    for follow in (inside, outside):
        a_posting(follow.source)
    assert actions.mark_all_read(user, Scope("folder", inner.parent_id), shown_at=NOON, now=NOON).count == 1
    assert queries.unread_counts(user) == {outside.source_id: 1}


def test_mark_all_of_somebody_elses_folder_marks_nothing():
    owner, stranger = a_user(), a_user()
    source = a_source()
    folder = a_folder(owner)
    a_follow(owner, source, folders=(folder,))
    a_follow(stranger, source)
    a_posting(source)
    assert actions.mark_all_read(stranger, Scope("folder", folder.pk), shown_at=NOON, now=NOON).count == 0


def test_mark_all_is_one_statement(django_assert_num_queries):
    follow = a_follow()
    some_postings(30, follow.source)
    later = NOON + timedelta(hours=1)
    with django_assert_num_queries(3):  # with the savepoint around it
        assert actions.mark_all_read(follow.user, Scope("all"), shown_at=later, now=later).count == 30
    assert actions.mark_all_read(follow.user, Scope("all"), shown_at=later, now=later).count == 0
