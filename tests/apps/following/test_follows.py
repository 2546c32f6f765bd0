from datetime import timedelta

import pytest

from apps.following import actions, queries
from apps.following.actions import follows
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder, Follow
from apps.following.queries import Scope
from apps.postings.models import Posting
from apps.sources.formats import opml
from apps.sources.formats.opml import OpmlDocument, Skipped, Subscription
from apps.sources.models import Source
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


def test_the_twenty_newest_postings_of_a_new_source_are_unread():
    user, source = a_user(), a_source()
    some_postings(25, source)
    actions.follows.follow(user, [source.pk], now=NOON)
    assert queries.unread_counts(user) == {source.pk: 20}


def test_of_a_source_with_few_postings_a_month_is_unread():
    user, source = a_user(), a_source()
    for days in (1, 29, 31):
        a_posting(source, published_at=NOON - timedelta(days=days))
    actions.follows.follow(user, [source.pk], now=NOON)
    assert queries.unread_counts(user) == {source.pk: 2}


def test_following_twice_changes_nothing():
    follow = a_follow(title="My name")
    assert actions.follows.follow(follow.user, [follow.source_id], now=NOON) == []
    assert Follow.objects.get().title == "My name"


def test_a_follow_goes_only_into_folders_of_the_same_person():
    user, source = a_user(), a_source()
    mine, theirs = a_folder(user), a_folder()
    actions.follows.follow(user, [source.pk], now=NOON, folder_ids=[mine.pk, theirs.pk])
    assert list(Follow.objects.get().folders.all()) == [mine]


def test_the_number_of_follows_is_limited(monkeypatch):
    monkeypatch.setattr(follows, "MAX_FOLLOWS", 1)
    user = a_user()
    with pytest.raises(NotPossible, match="at most 1"):
        actions.follows.follow(user, [a_source().pk, a_source().pk], now=NOON)
    assert not Follow.objects.exists()


def test_starred_postings_stay_readable_after_unfollowing():
    follow = a_follow()
    kept, lost = a_posting(follow.source), a_posting(follow.source)
    actions.marks.star(follow.user, kept.pk, starred=True, now=NOON)
    actions.follows.unfollow(follow.user, follow.source_id)
    assert list(queries.readable_by(follow.user)) == [kept]
    assert list(queries.postings_in(follow.user, Scope("starred"))) == [kept]
    assert lost in Posting.objects.all()


def test_a_folder_contains_the_postings_of_its_subfolders():
    user = a_user()
    outer = a_folder(user)
    inner = a_folder(user, parent=outer)
    posting = a_posting(a_follow(user, folders=(inner, outer)).source)
    assert list(queries.postings_in(user, Scope("folder", outer.pk))) == [posting]


def test_folders_end_at_a_depth():
    user, folder = a_user(), None
    for level in range(actions.follows.MAX_FOLDER_DEPTH):
        folder = actions.follows.create_folder(user, f"Level {level}", folder)
    with pytest.raises(NotPossible, match="deep"):
        actions.follows.create_folder(user, "Too deep", folder)


def test_a_folder_cannot_take_its_neighbours_name():
    user = a_user()
    a_folder(user, "News")
    with pytest.raises(NotPossible, match="“News” already"):
        actions.follows.edit_folder(a_folder(user, "Other"), name="News", parent=None)


def test_a_folder_moves_with_its_contents():
    user = a_user()
    outer, other = a_folder(user, "Outer"), a_folder(user, "Other")
    inner = a_folder(user, "Inner", parent=outer)
    actions.follows.edit_folder(outer, name="Renamed", parent=other)
    assert queries.folder_paths(queries.folders_of(user))[inner.pk] == ("Other", "Renamed", "Inner")
    outer.refresh_from_db()
    actions.follows.edit_folder(outer, name="Renamed", parent=None)
    assert queries.folder_paths(queries.folders_of(user))[inner.pk] == ("Renamed", "Inner")


def test_a_folder_cannot_be_moved_into_itself():
    outer = a_folder()
    inner = a_folder(outer.user, parent=outer)
    for place in (outer, inner):
        with pytest.raises(NotPossible, match="into itself"):
            actions.follows.edit_folder(outer, name="Outer", parent=place)


def test_a_move_cannot_exceed_the_maximum_depth():
    user, deep = a_user(), None
    for level in range(actions.follows.MAX_FOLDER_DEPTH - 1):
        deep = actions.follows.create_folder(user, f"Level {level}", deep)
    pair = a_folder(user, "Pair")
    alone = a_folder(user, "Alone", parent=pair)
    with pytest.raises(NotPossible, match="deep"):
        actions.follows.edit_folder(pair, name="Pair", parent=deep)
    actions.follows.edit_folder(alone, name="Alone", parent=deep)
    assert len(queries.folder_paths(queries.folders_of(user))[alone.pk]) == actions.follows.MAX_FOLDER_DEPTH


def test_deleting_a_folder_unfollows_nothing():
    follow = a_follow()
    folder = a_folder(follow.user)
    a_folder(follow.user, parent=folder)
    follow.folders.add(folder)
    actions.follows.delete_folder(folder)
    assert Follow.objects.count() == 1
    assert not Folder.objects.exists()


LIST = OpmlDocument(
    subscriptions=(
        Subscription("https://a.example/feed", title="A", folders=(("News", "World"), ("Tech",))),
        Subscription("https://b.example/feed", title="B"),
    ),
    skipped=(Skipped(7, "No address."),),
)


def test_an_imported_list_exports_as_it_came():
    user = a_user("ada")
    actions.follows.import_list(user, LIST, now=NOON)
    exported = opml.read(opml.write(queries.subscription_list(user), NOON))
    assert exported.title == "Feeds of ada"
    assert exported.subscriptions == LIST.subscriptions


def test_the_report_distinguishes_new_known_and_skipped_sources():
    known = a_source(url="https://b.example/feed", title="Its own name")
    user = a_follow(source=known).user
    report = actions.follows.import_list(user, LIST, now=NOON)
    assert (len(report.followed), report.already_followed, report.skipped) == (1, 1, LIST.skipped)


def test_a_title_in_the_list_becomes_the_users_own():
    source = a_source(url="https://b.example/feed", title="Its own name")
    user = a_user()
    actions.follows.import_list(user, LIST, now=NOON)
    source.refresh_from_db()
    assert source.title == "Its own name"
    assert queries.follow_of(user, source.pk).title == "B"


def test_a_list_that_breaks_a_rule_halfway_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr(follows, "MAX_FOLDERS", 1)
    with pytest.raises(NotPossible):
        actions.follows.import_list(a_user(), LIST, now=NOON)
    assert not Source.objects.exists()
    assert not Follow.objects.exists()
    assert not Folder.objects.exists()


def test_a_list_may_be_too_long(monkeypatch):
    monkeypatch.setattr(follows, "MAX_IMPORTED", 1)
    with pytest.raises(NotPossible, match="at most 1"):
        actions.follows.import_list(a_user(), LIST, now=NOON)
