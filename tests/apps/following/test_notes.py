"""What people write about postings, read lately, listen to and show to others."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.following import actions, queries
from apps.following.actions import marks
from apps.following.actions.errors import NotPossible
from apps.following.models import Note, Playback, Reading, Share, Tag, Tagging
from apps.following.queries import Scope
from apps.following.queries.states import StateNote, posting_state
from apps.postings import queries as postings
from tests.builders import NOON, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)


# --- notes ------------------------------------------------------------------------------------------------------------
def test_a_note_takes_the_place_of_the_one_before():
    user, posting = a_user(), a_posting()
    assert actions.marks.write_note(user, posting.pk, "First thought", now=NOON)
    assert actions.marks.write_note(user, posting.pk, "  Second\r\nthought\0 ", now=LATER)
    note = Note.objects.get()
    assert (note.text, note.changed_at) == ("Second\nthought", LATER)


def test_an_empty_note_is_deleted():
    user, posting = a_user(), a_posting()
    actions.marks.write_note(user, posting.pk, "A thought", now=NOON)
    assert not actions.marks.write_note(user, posting.pk, " \n ", now=NOON)
    assert not Note.objects.exists()


def test_people_delete_only_their_own_notes():
    user, other, posting = a_user(), a_user(), a_posting()
    for person in (user, other):
        actions.marks.write_note(person, posting.pk, "Mine", now=NOON)
    assert actions.marks.delete_note(user, posting.pk)
    assert not actions.marks.delete_note(user, posting.pk)
    assert Note.objects.get().user == other


def test_a_note_has_a_longest_length():
    user, posting = a_user(), a_posting()
    assert actions.marks.write_note(user, posting.pk, "x" * 10_000, now=NOON)
    with pytest.raises(NotPossible, match=r"at most 10,000 characters; this one has 10,001"):
        actions.marks.write_note(user, posting.pk, "x" * 10_001, now=NOON)


def test_notes_of_a_person_are_bounded(monkeypatch):
    monkeypatch.setattr(marks, "MAX_NOTES", 1)
    user, first, second = a_user(), a_posting(), a_posting()
    actions.marks.write_note(user, first.pk, "One", now=NOON)
    actions.marks.write_note(user, first.pk, "Still one", now=NOON)
    with pytest.raises(NotPossible, match="at most 1 notes"):
        actions.marks.write_note(user, second.pk, "Two", now=NOON)


@pytest.mark.parametrize(
    ("words", "found"),
    [("", ["rain", "snow"]), ("RAIN", ["rain"]), ("in", ["rain"]), ("now s", ["snow"]), ("rain snow", []), ("%", [])],
)
def test_notes_are_found_by_plain_words(words, found):
    user = a_user()
    for text in ("rain", "snow"):
        actions.marks.write_note(user, a_posting().pk, text, now=NOON)
    actions.marks.write_note(a_user(), a_posting().pk, "rain and snow", now=NOON)
    assert sorted(note.text for note in queries.notes_of(user, words)) == found


# --- history ----------------------------------------------------------------------------------------------------------
def test_history_has_the_latest_reading_of_each_posting():
    user = a_user()
    first, second = some_postings(2)
    actions.marks.remember_read(user, [first.pk], now=NOON)
    actions.marks.remember_read(user, [second.pk], now=NOON + timedelta(minutes=1))
    actions.marks.remember_read(user, [first.pk, first.pk], now=LATER)
    assert [reading.posting_id for reading in queries.readings_before(user, None)] == [first.pk, second.pk]


def test_history_goes_on_behind_a_place_in_it():
    user = a_user()
    ids = [posting.pk for posting in some_postings(5)]
    actions.marks.remember_read(user, ids[:3], now=NOON)  # at one time: ids decide the order
    actions.marks.remember_read(user, ids[3:], now=LATER)
    whole = list(queries.readings_before(user, None))
    for at, reading in enumerate(whole):
        place = postings.Cursor(reading.read_at, reading.posting_id)
        assert list(queries.readings_before(user, place)) == whole[at + 1 :]


def test_history_is_limited(monkeypatch):
    monkeypatch.setattr(marks, "MAX_REMEMBERED", 3)
    user, other = a_user(), a_user()
    ids = [posting.pk for posting in some_postings(5)]
    actions.marks.remember_read(other, ids[:1], now=NOON - timedelta(days=9))
    for minute, posting_id in enumerate(ids):
        actions.marks.remember_read(user, [posting_id], now=NOON + timedelta(minutes=minute))
    assert {reading.posting_id for reading in queries.readings_before(user, None)} == set(ids[2:])
    assert queries.readings_before(other, None).count() == 1


def test_reading_once_more_forgets_nothing(monkeypatch):
    monkeypatch.setattr(marks, "MAX_REMEMBERED", 3)
    user = a_user()
    ids = [posting.pk for posting in some_postings(3)]
    for minute, posting_id in enumerate([*ids, ids[1], ids[0], ids[0]]):
        actions.marks.remember_read(user, [posting_id], now=NOON + timedelta(minutes=minute))
    assert [reading.posting_id for reading in queries.readings_before(user, None)] == [ids[0], ids[1], ids[2]]


def test_adding_to_the_history_takes_one_query(django_assert_num_queries):
    user, posting = a_user(), a_posting()
    for _ in range(2):
        with django_assert_num_queries(1):
            actions.marks.remember_read(user, [posting.pk], now=NOON)
    with django_assert_num_queries(0):
        actions.marks.remember_read(user, [], now=NOON)


class TestWhateverIsRead(TestCase):
    @given(st.lists(st.tuples(st.sets(st.integers(0, 6), min_size=1), st.integers(0, 1)), max_size=12))
    def test_a_plain_dictionary_remembers_the_same(self, happenings):
        user, other, most = a_user(), a_user(), 3
        ids = [posting.pk for posting in some_postings(7)]
        actions.marks.remember_read(other, ids, now=NOON)
        known, now = {}, NOON
        with patch.object(marks, "MAX_REMEMBERED", most):
            for read, minutes in happenings:
                now += timedelta(minutes=minutes)
                actions.marks.remember_read(user, [ids[number] for number in read], now=now)
                known |= {ids[number]: now for number in read}
                latest = sorted(known.values(), reverse=True)[:most][-1]  # what was read at that moment stays, too
                known = {id: at for id, at in known.items() if at >= latest}
                readings = queries.readings_before(user, None)
                assert {reading.posting_id: reading.read_at for reading in readings} == known
        assert queries.readings_before(other, None).count() == len(ids)


def test_only_ones_own_history_is_cleared():
    user, other, posting = a_user(), a_user(), a_posting()
    for person in (user, other):
        actions.marks.remember_read(person, [posting.pk], now=NOON)
    assert actions.marks.clear_history(user) == 1
    assert Reading.objects.get().user == other


# --- playback ---------------------------------------------------------------------------------------------------------
def test_the_place_in_a_recording_is_the_latest():
    user, posting = a_user(), a_posting()
    actions.marks.save_position(user, posting.pk, "https://a.example/1.mp3", 61.5, now=NOON)
    actions.marks.save_position(user, posting.pk, "https://a.example/1.mp3", 30.0, now=LATER)
    assert posting_state(user, posting.pk).place.seconds == 30.0
    assert posting_state(a_user(), posting.pk).place is None
    actions.marks.forget_position(user, posting.pk)
    assert not Playback.objects.exists()


# --- shared postings --------------------------------------------------------------------------------------------------
def test_a_posting_is_shared_at_one_address_until_unshared():
    user, posting = a_user(), a_posting()
    first = actions.marks.share(user, posting.pk, now=NOON)
    assert actions.marks.share(user, posting.pk, now=LATER).secret == first.secret
    assert queries.share_at(first.secret).posting == posting
    assert actions.marks.unshare(user, posting.pk)
    assert queries.share_at(first.secret) is None
    assert actions.marks.share(user, posting.pk, now=LATER).secret != first.secret


def test_shares_of_others_cannot_be_deleted():
    user, posting = a_user(), a_posting()
    actions.marks.share(user, posting.pk, now=NOON)
    assert not actions.marks.unshare(a_user(), posting.pk)
    assert Share.objects.exists()


def test_shares_of_locked_users_are_hidden():
    user = a_user()
    secret = actions.marks.share(user, a_posting().pk, now=NOON).secret
    user.is_active = False
    user.save()
    assert queries.share_at(secret) is None


def test_shares_of_a_person_are_bounded(monkeypatch):
    monkeypatch.setattr(marks, "MAX_SHARES", 1)
    user = a_user()
    actions.marks.share(user, a_posting().pk, now=NOON)
    with pytest.raises(NotPossible, match="at most 1 articles"):
        actions.marks.share(user, a_posting().pk, now=NOON)


# --- tags put in order ------------------------------------------------------------------------------------------------
def tagged(user):
    rows = Tagging.objects.filter(tag__user=user)
    return {name: {row.posting_id for row in rows if row.tag.name == name} for name in {row.tag.name for row in rows}}


def test_a_tag_gets_another_name():
    user, other, posting = a_user(), a_user(), a_posting()
    for person in (user, other):
        actions.marks.tag(person, [posting.pk], "news", NOON)
    assert actions.marks.rename_tag(user, user.tags.get().pk, " old  news ")
    assert (tagged(user), tagged(other)) == ({"old news": {posting.pk}}, {"news": {posting.pk}})
    assert not actions.marks.rename_tag(user, other.tags.get().pk, "mine")


def test_a_tag_does_not_get_a_name_that_another_one_has():
    user, posting = a_user(), a_posting()
    actions.marks.tag(user, [posting.pk], "a", NOON)
    actions.marks.tag(user, [posting.pk], "b", NOON)
    with pytest.raises(NotPossible, match="A tag named “b” already exists"):
        actions.marks.rename_tag(user, user.tags.get(name="a").pk, "b")
    assert actions.marks.rename_tag(user, user.tags.get(name="a").pk, "a")


def test_two_tags_are_merged():
    user, other = a_user(), a_user()
    one, both, two = (posting.pk for posting in some_postings(3))
    actions.marks.tag(user, [one, both], "a", NOON)
    actions.marks.tag(user, [both, two], "b", NOON)
    actions.marks.tag(other, [one], "c", NOON)
    a, b, c = (Tag.objects.get(name=name).pk for name in "abc")
    assert not actions.marks.merge_tags(user, a, c)
    assert not actions.marks.merge_tags(user, a, a)
    assert actions.marks.merge_tags(user, a, b)
    assert (tagged(user), tagged(other)) == ({"b": {one, both, two}}, {"c": {one}})


def test_a_deleted_tag_is_removed_from_all_postings():
    user, posting = a_user(), a_posting()
    actions.marks.tag(user, [posting.pk], "a", NOON)
    assert not actions.marks.delete_tag(a_user(), user.tags.get().pk)
    assert actions.marks.delete_tag(user, user.tags.get().pk)
    assert not Tagging.objects.exists()


def test_tags_are_counted():
    user = a_user()
    one, two = (posting.pk for posting in some_postings(2))
    actions.marks.tag(user, [one, two], "both", NOON)
    actions.marks.tag(user, [one], "one", NOON)
    assert [(tag.name, tag.amount) for tag in queries.counted_tags(user)] == [("both", 2), ("one", 1)]


# --- up to here -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("oldest_first", [True, False])
def test_up_to_here_marks_the_postings_above_in_the_shown_order(oldest_first):
    follow = a_follow()
    shown = some_postings(3, follow.source)
    shown += [a_posting(follow.source, published_at=shown[1].published_at) for _ in range(3)]  # at one moment
    shown.sort(key=lambda posting: (posting.published_at, posting.pk), reverse=not oldest_first)
    actions.marks.mark_read(follow.user, [shown[0].pk], read=True, now=NOON)
    late = a_posting(follow.source, published_at=shown[1].published_at, retrieved_at=LATER + timedelta(seconds=1))
    for at, here in enumerate(shown):
        found = queries.unread_up_to(
            follow.user,
            Scope("all"),
            postings.cursor_of(here),
            oldest_first=oldest_first,
            shown_at=LATER,
            most=100,
        )
        assert set(found) == {posting.pk for posting in shown[1 : at + 1]}
        assert late.pk not in found


def test_up_to_here_is_bounded_from_the_top():
    follow = a_follow()
    shown = some_postings(5, follow.source)
    found = queries.unread_up_to(
        follow.user, Scope("all"), postings.cursor_of(shown[4]), oldest_first=False, shown_at=LATER, most=3
    )
    assert found == [shown[4].pk, shown[0].pk, shown[1].pk]


# --- what hangs on postings that become one ---------------------------------------------------------------------------
def test_data_of_users_moves_to_the_remaining_posting():
    user, other = a_user(), a_user()
    merged, kept = a_posting(a_source()), a_posting(a_source())
    actions.marks.tag(user, [merged.pk], "news", NOON)
    actions.marks.tag(user, [kept.pk], "news", NOON)
    actions.marks.tag(user, [merged.pk], "old", NOON)
    actions.marks.write_note(user, merged.pk, "On the one", now=LATER)
    actions.marks.write_note(user, kept.pk, "On the other", now=NOON)
    actions.marks.write_note(other, merged.pk, "Elsewhere", now=NOON)
    actions.marks.remember_read(user, [merged.pk], now=NOON)
    actions.marks.save_position(user, merged.pk, "https://a.example/1.mp3", 9.0, now=NOON)
    secret = actions.marks.share(user, merged.pk, now=NOON).secret

    actions.restoring.move_own([(merged.pk, kept.pk)])
    merged.delete()

    assert tagged(user) == {"news": {kept.pk}, "old": {kept.pk}}
    assert posting_state(user, kept.pk).note == StateNote("On the other\n\nOn the one", LATER)
    assert posting_state(other, kept.pk).note.text == "Elsewhere"
    assert Reading.objects.get().posting == kept
    assert posting_state(user, kept.pk).place.seconds == 9.0
    assert queries.share_at(secret).posting == kept
