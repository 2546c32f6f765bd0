"""Marks made offline: each is applied once, and none over a later one."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.following import actions, queries
from apps.following.actions.marks import REMEMBERED_FOR, apply_changes
from apps.following.formats.offline import QueuedChange
from apps.following.models import Mark, OfflineChange
from apps.following.queries import Scope
from apps.postings.models import Posting
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user, some_postings

HOUR = timedelta(hours=1)
LATER = NOON + 9 * HOUR


def a_change(posting, field="starred", value=True, made_at=NOON) -> QueuedChange:
    return QueuedChange(uuid4(), posting.pk, field, value, made_at)


@pytest.fixture
def follow(db):
    return a_follow()


@pytest.fixture
def posting(follow):
    return a_posting(follow.source)


def applied(user, *changes, now=LATER) -> list[str]:
    outcomes = apply_changes(user, changes, now=now)
    return [outcomes[change.id] for change in changes]


def state_of(user, posting) -> tuple[bool, bool]:
    seen = queries.with_state(Posting.objects.filter(pk=posting.pk), user).get()
    return seen.unread, seen.starred


def test_changes_apply_with_the_time_of_the_device(follow, posting):
    changes = [a_change(posting), a_change(posting, "read", made_at=NOON + HOUR)]
    assert applied(follow.user, *changes) == ["applied", "applied"]
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at, mark.changed_at) == (True, NOON, NOON + HOUR)
    assert state_of(follow.user, posting) == (False, True)


def test_a_repeated_change_has_the_same_outcome(follow, posting):
    change = a_change(posting)
    assert applied(follow.user, change) == ["applied"]
    actions.marks.star(follow.user, posting.pk, starred=False, now=NOON - HOUR)  # by a clock that goes wrong
    assert applied(follow.user, change, now=LATER + HOUR) == ["applied"]
    assert state_of(follow.user, posting) == (True, False)
    assert OfflineChange.objects.count() == 1


def test_a_change_can_be_repeated_in_one_message(follow, posting):
    change = a_change(posting)
    assert applied(follow.user, change, change) == ["applied", "applied"]
    assert OfflineChange.objects.count() == 1


def test_later_changes_elsewhere_win(follow, posting):
    actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
    actions.marks.star(follow.user, posting.pk, starred=False, now=NOON + 2 * HOUR)
    assert applied(follow.user, a_change(posting, made_at=NOON + HOUR)) == ["superseded"]
    assert state_of(follow.user, posting) == (True, False)


def test_a_star_of_the_train_outlives_that_the_posting_was_read_at_home(follow, posting):
    actions.marks.mark_read(follow.user, [posting.pk], read=True, now=NOON + 2 * HOUR)
    assert applied(follow.user, a_change(posting, made_at=NOON)) == ["applied"]
    assert state_of(follow.user, posting) == (False, True)
    assert Mark.objects.get().changed_at == NOON + 2 * HOUR


def test_marking_unread_before_marking_the_list_read_is_superseded(follow, posting):
    actions.marks.mark_read(follow.user, [posting.pk], read=False, now=NOON)
    actions.marking.mark_all_read(follow.user, Scope("all"), shown_at=NOON + HOUR, now=NOON + HOUR)
    assert applied(follow.user, a_change(posting, "read", value=False, made_at=NOON)) == ["superseded"]
    assert state_of(follow.user, posting) == (False, False)


@pytest.mark.parametrize(("field", "outcome"), [("read", "superseded"), ("starred", "applied")])
def test_a_mark_without_a_changed_field_counts_as_read(follow, posting, field, outcome):
    a_mark(follow.user, posting, read=False, changed_at=NOON + HOUR)
    assert applied(follow.user, a_change(posting, field)) == [outcome]
    assert applied(follow.user, a_change(posting, field, made_at=NOON + 2 * HOUR)) == ["applied"]


def test_a_star_from_before_there_were_times_was_last_put_on_when_it_says(follow, posting):
    a_mark(follow.user, posting, starred_at=NOON + HOUR, changed_at=NOON + 2 * HOUR)
    assert applied(follow.user, a_change(posting, value=False)) == ["superseded"]
    assert applied(follow.user, a_change(posting, value=False, made_at=NOON + 2 * HOUR)) == ["applied"]
    assert Mark.objects.get().starred_at is None


def test_starred_again_keeps_the_place_among_the_starred(follow, posting):
    for made_at in (NOON, NOON + HOUR):
        applied(follow.user, a_change(posting, made_at=made_at))
    assert Mark.objects.get().starred_at == NOON


def test_others_have_their_own_marks_and_their_own_numbers(follow, posting):
    other, change = a_follow(source=follow.source).user, a_change(posting)
    assert applied(follow.user, change) == applied(other, change) == ["applied"]
    assert applied(other, a_change(posting, value=False, made_at=NOON + HOUR)) == ["applied"]
    assert state_of(follow.user, posting) == (True, True)


def test_a_posting_that_the_person_may_not_read_is_not_known(follow, posting):
    hidden = a_posting(a_source(listed=False))
    gone = a_change(posting)._replace(posting_id=2**62)
    assert applied(follow.user, a_change(hidden), gone, a_change(posting)) == ["unknown", "unknown", "applied"]
    assert list(Mark.objects.values_list("posting", flat=True)) == [posting.pk]


def test_known_changes_expire_after_weeks(follow, posting):
    applied(follow.user, a_change(posting), now=NOON)
    late = a_change(posting, value=False, made_at=NOON + REMEMBERED_FOR)
    applied(follow.user, late, now=NOON + REMEMBERED_FOR + HOUR)
    assert list(OfflineChange.objects.values_list("change_id", flat=True)) == [late.id]


def test_the_number_of_queries_does_not_grow(follow, django_assert_max_num_queries):
    postings = some_postings(30, follow.source)
    for amount in (1, 30):
        with django_assert_max_num_queries(11):
            applied(follow.user, *(a_change(posting) for posting in postings[:amount]))
    assert Mark.objects.filter(starred_at=NOON).count() == 30


@pytest.mark.django_db(transaction=True)
def test_concurrent_copies_of_a_message_are_applied_once():
    follow = a_follow()
    changes = [a_change(posting) for posting in some_postings(20, follow.source)]

    def send(_turn: int) -> list[str]:
        try:
            return applied(follow.user, *changes)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(send, range(4)))
    assert answers == [["applied"] * 20] * 4
    assert OfflineChange.objects.count() == 20


FIELDS = st.sampled_from(["read", "starred"])
MINUTES = st.integers(1, 40)
EVENTS = st.lists(
    st.tuples(st.integers(0, 2), FIELDS, st.booleans(), MINUTES, st.integers(0, 2)),
    max_size=14,
    unique_by=lambda e: e[3],
)


class TestDevices(TestCase):
    @settings(deadline=None, max_examples=25)
    @given(events=EVENTS, order=st.permutations([1, 2, 1]))
    def test_the_last_change_wins_in_any_order_of_devices(self, events, order):
        """Device 0 is online; 1 and 2 send what they did after all that, and 1 sends it twice."""
        follow = a_follow()
        postings = some_postings(3, follow.source)
        queued = {1: [], 2: []}
        for index, field, value, minute, device in sorted(events, key=lambda event: event[3]):
            at = NOON + timedelta(minutes=minute)
            if device:
                queued[device].append(a_change(postings[index], field, value, at))
            elif field == "read":
                actions.marks.mark_read(follow.user, [postings[index].pk], read=value, now=at)
            else:
                actions.marks.star(follow.user, postings[index].pk, starred=value, now=at)
        for device in order:
            applied(follow.user, *queued[device])

        expected = {(index, "read"): False for index in range(3)} | {(index, "starred"): False for index in range(3)}
        for index, field, value, _minute, _device in sorted(events, key=lambda event: event[3]):
            expected[index, field] = value
        for index, posting in enumerate(postings):
            assert state_of(follow.user, posting) == (not expected[index, "read"], expected[index, "starred"])


def test_listed_postings_can_be_starred_without_a_follow(db):
    user, posting = a_user(), a_posting()
    assert applied(user, a_change(posting)) == ["applied"]
