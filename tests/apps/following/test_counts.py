"""Counts of unread articles are stored, and hold until some state may have changed."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.following import actions, queries, tasks
from apps.following.actions.counting import store_counts
from apps.following.models import StateChange, UnreadCount
from apps.following.queries import Scope, counts
from apps.postings.actions.duplicates import note_copies
from apps.postings.models import Posting
from apps.web.pages import sidebar as sidebars
from apps.web.pages.sidebar import sidebar
from tests.builders import NOON, a_follow, a_posting, a_user, some_postings

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)
IMPOSSIBLE = 77  # stored instead of what was counted, so that pages show whether they have counted again


@pytest.fixture
def follow(monkeypatch):
    monkeypatch.setattr(counts, "WORTH_STORING", 1)
    return a_follow(a_user())


def stored(follow) -> bool:
    """Whether counts that are stored now are shown; whatever happens then can be seen by `is_shown`."""
    store_counts(follow.user)
    UnreadCount.objects.filter(source=follow.source_id).update(single=IMPOSSIBLE, copied=[])
    return is_shown(follow)


def is_shown(follow) -> bool:
    return dict(sidebar(follow.user).counts())[f"source-{follow.source_id}"] >= IMPOSSIBLE


def test_counts_are_computed_again_after_every_change(follow):
    first, second, *_others = some_postings(6, follow.source)
    other = a_follow(follow.user)
    copy = a_posting(other.source, published_at=first.published_at, fold_key=5)

    def become_copies() -> None:
        Posting.objects.filter(pk=first.pk).update(fold_key=5)
        note_copies([(5, first.published_at)])

    for change in (
        lambda: actions.marks.mark_read(follow.user, [second.pk], read=True, now=NOON),
        lambda: actions.marks.mark_for_all([(follow.user.pk, second.pk)], now=NOON, read=False),
        become_copies,
        lambda: actions.marking.mark_all_read(follow.user, Scope("source", other.source_id), shown_at=LATER, now=LATER),
        lambda: actions.marks.mark_read(follow.user, [copy.pk], read=False, now=NOON),
        lambda: actions.follows.follow(follow.user, [a_posting().source_id], now=NOON),
        lambda: type(follow).objects.filter(pk=follow.pk).update(unread_from=NOON - timedelta(days=9)),
        lambda: copy.delete(),
        lambda: first.delete(),
    ):
        assert stored(follow)
        change()
        assert not is_shown(follow)


def test_changes_that_affect_no_state_keep_stored_counts(follow):
    [posting, *_others] = some_postings(3, follow.source)
    stranger = a_user()
    assert stored(follow)
    actions.marks.star(follow.user, posting.pk, starred=True, now=NOON)
    actions.marks.mark_read(stranger, [posting.pk], read=True, now=NOON)
    some_postings(2, follow.source)
    assert is_shown(follow)
    assert sidebar(follow.user).unread == IMPOSSIBLE + 2
    tasks.join_changes()
    assert is_shown(follow)


def test_joined_changes_leave_one_row_of_each_feed(follow):
    postings = some_postings(4, follow.source)
    for posting in postings:
        actions.marks.mark_read(follow.user, [posting.pk], read=True, now=NOON)
    assert StateChange.objects.filter(source=follow.source_id).count() == 4
    tasks.join_changes()
    assert StateChange.objects.get(source=follow.source_id).amount == 4
    follow.user.delete()
    tasks.join_changes()
    assert not StateChange.objects.exclude(reader=0).exists()


def test_counts_stop_at_a_thousand_on_pages_alone(follow, monkeypatch):
    few = a_follow(follow.user)
    for source, amount in ((follow.source, 9), (few.source, 3)):
        some_postings(amount, source)
    monkeypatch.setattr(counts, "MAX_COUNTED", 5)
    for _ in range(2):  # counted, and stored
        shown = dict(sidebar(follow.user).counts())
        assert shown == {"all": 5, f"source-{follow.source_id}": 5, f"source-{few.source_id}": 3}
        store_counts(follow.user)
    assert queries.unread_counts(follow.user) == {follow.source_id: 9, few.source_id: 3}
    monkeypatch.setattr("apps.web.templatetags.formatting.MAX_COUNTED", 5)
    client = Client()
    client.force_login(follow.user)
    assert client.get(reverse("river")).text.count("5+</span>") == 3  # all, beside the list and in the bar, and a feed


def test_a_page_stores_what_takes_long_to_count(follow, monkeypatch):
    some_postings(3, follow.source)
    sidebar(follow.user)
    assert not UnreadCount.objects.exists()
    monkeypatch.setattr(sidebars, "STORED_FROM", 3)
    sidebar(follow.user)
    assert UnreadCount.objects.get().single == 3
