"""Unread states, by three queries that must agree."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from time_machine import travel

from apps.following import actions, queries, tasks
from apps.following.actions.marking import Marked
from apps.following.models import Follow, Mark, MarkedAll
from apps.following.queries import Scope, listing
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
def test_arrivals_since_the_follow_and_marked_postings_are_unread(hours_after_follow, read, unread):
    follow = a_follow(unread_from=NOON)
    posting = a_posting(follow.source, published_at=NOON + timedelta(hours=hours_after_follow))
    if read is not None:
        a_mark(follow.user, posting, read=read)

    assert queries.with_state(Posting.objects.all(), follow.user).get().unread is unread
    assert queries.unread_counts(follow.user) == ({follow.source_id: 1} if unread else {})


def test_a_star_alone_says_nothing_of_reading():
    follow = a_follow()
    posting = a_posting(follow.source)
    actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
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
    actions.marks.mark_read(reader, [posting.pk], read=True, now=NOON)
    actions.marks.star(reader, posting.pk, starred=True, now=NOON)
    seen = queries.with_state(Posting.objects.all(), other).get()
    assert (seen.unread, seen.starred) == (True, False)


def test_starring_and_reading_leave_each_other_alone():
    follow = a_follow()
    posting = a_posting(follow.source)
    actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
    actions.marks.mark_read(follow.user, [posting.pk], read=True, now=NOON)
    actions.marks.star(follow.user, posting.pk, starred=False, now=NOON)
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at) == (True, None)


class TestMarksInAnyOrder(TestCase):
    @given(
        offsets=st.lists(st.integers(-3, 3), min_size=1, max_size=6),
        marks=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["read", "unread", "star", "all"])), max_size=8),
    )
    def test_counts_and_lists_agree(self, offsets, marks):
        follow = a_follow(unread_from=NOON)
        postings = [a_posting(follow.source, published_at=NOON + timedelta(hours=offset)) for offset in offsets]
        unread = {posting.pk for posting, offset in zip(postings, offsets, strict=True) if offset >= 0}
        for index, kind in marks:
            posting = postings[index % len(postings)]
            if kind == "star":
                actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
            elif kind == "all":
                actions.marking.mark_all_read(follow.user, Scope("all"), shown_at=NOON + timedelta(days=1), now=NOON)
                unread.clear()
            else:
                actions.marks.mark_read(follow.user, [posting.pk], read=kind == "read", now=NOON)
                (unread.discard if kind == "read" else unread.add)(posting.pk)

        listed = queries.unread(queries.postings_in(follow.user, Scope("all")), follow.user)
        assert set(listed.values_list("pk", flat=True)) == unread
        assert sum(queries.unread_counts(follow.user).values()) == len(unread)


def unread_of(user) -> list[Posting]:
    return list(queries.unread(queries.postings_in(user, Scope("all")), user).order_by("pk"))


def mark_all(user, scope=Scope("all"), *, shown_at=NOON, now=NOON, **values):  # noqa: B008, it is frozen
    return actions.marking.mark_all_read(user, scope, shown_at=shown_at, now=now, **values)


@pytest.mark.parametrize("unread_only", [False, True])
@pytest.mark.parametrize("near", [0, 1, 2, 3])
def test_a_page_is_full_however_few_of_it_are_among_the_newest_of_all(monkeypatch, near, unread_only):
    monkeypatch.setattr(listing, "WALKED", 1)  # twice a page nevertheless
    monkeypatch.setattr(listing, "MAX_SOURCES", 1)
    follow = a_follow(unread_from=NOON - timedelta(days=1))
    mine = some_postings(near, follow.source)
    some_postings(4, newest_at=NOON - timedelta(minutes=10))
    mine += some_postings(3, follow.source, newest_at=NOON - timedelta(hours=1))
    found = listing.positions(follow.user, Scope("all"), unread_only=unread_only, limit=2)
    assert [place.id for place in found] == [posting.pk for posting in mine[:2]]


def test_mark_all_keeps_later_arrivals_unread():
    follow = a_follow()
    a_posting(follow.source, published_at=NOON, retrieved_at=NOON)
    late = a_posting(follow.source, published_at=NOON - timedelta(hours=1), retrieved_at=NOON + timedelta(minutes=2))
    assert mark_all(follow.user, shown_at=NOON + timedelta(minutes=1)).count == 1
    assert unread_of(follow.user) == [late]
    old = a_posting(follow.source, published_at=NOON - timedelta(days=300), retrieved_at=NOON + timedelta(hours=1))
    assert unread_of(follow.user) == [late, old]


def test_mark_all_marks_only_its_list():
    user = a_user()
    inner = a_folder(user, "Inner", parent=a_folder(user, "Outer"))
    inside, outside = a_follow(user, folders=(inner,)), a_follow(user)
    for follow in (inside, outside):
        a_posting(follow.source)
    assert mark_all(user, Scope("folder", inner.parent_id)).count == 1
    assert queries.unread_counts(user) == {outside.source_id: 1}


def test_marking_a_foreign_folder_marks_nothing():
    owner, stranger = a_user(), a_user()
    source = a_source()
    folder = a_folder(owner)
    a_follow(owner, source, folders=(folder,))
    a_follow(stranger, source)
    a_posting(source)
    assert mark_all(stranger, Scope("folder", folder.pk)) == Marked(0, None)


def test_mark_all_takes_as_many_queries_for_one_posting_as_for_many_and_no_rows(
    django_assert_num_queries,
):
    follow = a_follow()
    later = NOON + timedelta(hours=1)
    for amount in (1, 30):
        some_postings(amount, follow.source)
        with django_assert_num_queries(6):  # with the savepoint around it
            assert mark_all(follow.user, shown_at=later, now=later).count == amount
        assert mark_all(follow.user, shown_at=later, now=later) == Marked(0, None)
    assert not Mark.objects.exists()
    assert Follow.objects.get().read_through == Posting.objects.latest("pk").pk


def test_mark_older_keeps_later_publications_unread():
    follow = a_follow()
    postings = some_postings(20, follow.source)
    limit = postings[4].published_at
    marked = mark_all(follow.user, shown_at=NOON + timedelta(hours=1), before=limit)
    assert marked.count == 15
    assert {posting.pk for posting in unread_of(follow.user)} == {posting.pk for posting in postings[:5]}
    assert actions.marking.undo_mark_all(follow.user, marked.undo, now=NOON) == 15
    assert len(unread_of(follow.user)) == 20


@pytest.mark.parametrize("kind", ["all", "starred"])
def test_marked_postings_have_the_same_limits(kind):
    follow = a_follow(unread_from=NOON - timedelta(hours=3))
    days = [NOON - timedelta(days=days) for days in (5, 4)]
    old, newer = (a_posting(follow.source, published_at=at) for at in days)
    late = a_posting(follow.source, published_at=days[0], retrieved_at=NOON + timedelta(minutes=2))
    actions.marks.mark_read(follow.user, [old.pk, newer.pk, late.pk], read=False, now=NOON)
    for posting in (old, newer, late):
        actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
    marked = mark_all(follow.user, Scope(kind), before=days[1])
    assert marked.count == 1
    assert unread_of(follow.user) == [newer, late]
    assert actions.marking.undo_mark_all(follow.user, marked.undo, now=NOON) == 1
    assert unread_of(follow.user) == [old, newer, late]


def test_few_that_are_older_are_marked_one_by_one():
    follow = a_follow()
    postings = some_postings(20, follow.source)
    assert mark_all(follow.user, shown_at=NOON + timedelta(hours=1), before=postings[17].published_at).count == 2
    assert Mark.objects.filter(read=True).count() == 2
    assert not Mark.objects.filter(read=False).exists()


def test_undo_restores_unread_states_except_later_marks():
    follow = a_follow(unread_from=NOON - timedelta(hours=3))
    new, starred, since = (a_posting(follow.source) for _ in range(3))
    by_hand = a_posting(follow.source, published_at=NOON - timedelta(days=1))
    read = a_posting(follow.source)
    actions.marks.mark_read(follow.user, [by_hand.pk], read=False, now=NOON)
    actions.marks.mark_read(follow.user, [read.pk], read=True, now=NOON)
    marked = mark_all(follow.user)
    assert marked.count == 4
    actions.marks.star(follow.user, starred.pk, starred=True, now=NOON)
    actions.marks.mark_read(follow.user, [since.pk], read=True, now=NOON)
    assert actions.marking.undo_mark_all(follow.user, marked.undo, now=NOON) == 3
    assert unread_of(follow.user) == [new, starred, by_hand]


def test_undo_works_once_for_its_own_person_and_for_a_day():
    follow, stranger = a_follow(), a_user()
    a_posting(follow.source)
    undo = mark_all(follow.user).undo
    assert actions.marking.undo_mark_all(stranger, undo, now=NOON) == 0
    assert actions.marking.undo_mark_all(follow.user, undo, now=NOON + timedelta(days=1)) == 0
    assert actions.marking.undo_mark_all(follow.user, undo, now=NOON + timedelta(hours=23)) == 1
    assert actions.marking.undo_mark_all(follow.user, undo, now=NOON) == 0


def test_undo_is_forgotten_after_a_day():
    follow = a_follow()
    a_posting(follow.source)
    mark_all(follow.user)
    with travel(NOON + timedelta(hours=23), tick=False):
        tasks.forget_undo()
    assert MarkedAll.objects.exists()
    with travel(NOON + timedelta(hours=24), tick=False):
        tasks.forget_undo()
    assert not MarkedAll.objects.exists()


def test_postings_read_with_a_list_stay_read_after_following_again():
    follow = a_follow()
    some_postings(25, follow.source)
    assert mark_all(follow.user, shown_at=NOON + timedelta(hours=1)).count == 25
    actions.follows.unfollow(follow.user, follow.source_id)
    new = a_posting(follow.source, published_at=NOON + timedelta(minutes=1))
    actions.follows.follow(follow.user, [follow.source_id], now=NOON)
    assert unread_of(follow.user) == [new]


def test_single_marks_become_a_moved_limit_once_a_week():
    follow = a_follow()
    postings = sorted(some_postings(40, follow.source), key=lambda posting: posting.pk)
    kept, read = [postings[3], *postings[35:]], [*postings[:3], *postings[4:35]]
    actions.marks.mark_read(follow.user, [posting.pk for posting in read], read=True, now=NOON)
    assert sum(actions.marking.advance_all(now=NOON + timedelta(days=day)) for day in range(7)) == 1
    follow.refresh_from_db()
    assert follow.read_through == postings[34].pk
    assert unread_of(follow.user) == kept
    assert queries.unread_counts(follow.user) == {follow.source_id: 6}
