"""Merging of two sources keeps follows, read marks and stars."""

from datetime import timedelta
from hashlib import blake2b

import pytest

from apps.dashboard.actions import Merged, NotMergeable, add_source, edit_source, merge_sources
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.models import Follow, Mark, Tagging
from apps.following.queries.states import posting_state
from apps.postings.models import Edition, Posting
from apps.retrieval.actions import discover, store
from apps.retrieval.http.results import decide
from apps.retrieval.models import Crawl, Page, Schedule
from apps.sources import queries as sources
from apps.sources.actions.editing import add_sources, move
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import FormerAddress, Source
from tests.apps.retrieval.retrieving import NOW, a_feed, a_scheduled_source, an_answer, begin
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_mark,
    a_posting,
    a_schedule,
    a_source,
    a_user,
    an_edition,
    some_postings,
)

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def key(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=16).digest()


@pytest.fixture
def kept():
    return a_source(url="https://kept.example/feed", title="Kept")


@pytest.fixture
def merged():
    return a_source(url="https://merged.example/feed", title="Merged", language="de", listed=True)


def merge(kept: Source, merged: Source) -> Merged:
    return merge_sources(kept.pk, merged.pk, now=NOON)


def states(user) -> dict[str, tuple[bool, bool]]:
    shown = following.with_state(following.postings_in(user, following.Scope("all")), user)
    return {posting.title: (posting.unread, posting.starred) for posting in shown}


def test_followers_folders_and_their_own_names_move(kept, merged):
    only, both = a_user(), a_user()
    of_both, of_only = a_folder(both), a_folder(only)
    a_follow(only, merged, folders=(of_only,), title="Mine")
    a_follow(both, merged, folders=(of_both,), title="Theirs", unread_from=NOON - HOUR)
    a_follow(both, kept, unread_from=NOON)
    assert merge(kept, merged) == Merged(followers=1, moved=0, joined=0)
    assert set(Follow.objects.values_list("user", "source", "title")) == {
        (only.pk, kept.pk, "Mine"),
        (both.pk, kept.pk, "Theirs"),
    }
    assert list(Follow.objects.get(user=only).folders.all()) == [of_only]
    assert list(Follow.objects.get(user=both).folders.all()) == [of_both]


def test_postings_move_and_those_that_both_have_become_one(kept, merged):
    ours = a_posting(kept, link_key=key("page"), retrieved_at=NOON, title="By link")
    theirs = a_posting(merged, link_key=key("page"), retrieved_at=NOON - HOUR)
    an_edition(theirs)
    known = a_posting(kept, identity=key("guid"), title="By guid")
    a_posting(merged, identity=key("guid"), title="By guid")
    other = a_posting(merged, title="Only there")
    assert merge(kept, merged) == Merged(followers=0, moved=1, joined=2)
    assert set(Posting.objects.values_list("pk", "source")) == {(each.pk, kept.pk) for each in (ours, known, other)}
    ours.refresh_from_db()
    assert ours.retrieved_at == NOON - HOUR
    assert Edition.objects.get().posting == ours


def test_different_postings_with_the_same_number_stay_two(kept, merged):
    for source in (kept, merged):
        a_posting(source, identity=key("1"), title=f"First of {source}")
    merge(kept, merged)
    assert set(Posting.objects.values_list("title", flat=True)) == {"First of Kept", "First of Merged"}
    assert Posting.objects.filter(identity=key("1")).count() == 1


@pytest.mark.parametrize(
    ("one", "other", "united"),
    [
        ({"read": True}, {"read": False}, (True, None)),
        ({"read": False}, {"read": None}, (False, None)),
        ({"read": None, "starred_at": NOON}, {"read": True}, (True, NOON)),
        ({"starred_at": NOON}, {"starred_at": NOON - HOUR}, (None, NOON - HOUR)),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_marks_on_both_are_united(kept, merged, one, other, united, swapped):
    user = a_user()
    ours, theirs = (a_posting(source, link_key=key("page")) for source in (kept, merged))
    a_mark(user, ours, **(other if swapped else one))
    a_mark(user, theirs, **(one if swapped else other))
    merge(kept, merged)
    mark = Mark.objects.get()
    assert (mark.posting, mark.read, mark.starred_at) == (ours, *united)


def test_notes_and_tags_move_to_the_posting_that_stays(kept, merged):
    user = a_user()
    ours, theirs = (a_posting(source, link_key=key("page")) for source in (kept, merged))
    following_actions.marks.write_note(user, theirs.pk, "To be kept", now=NOON)
    following_actions.marks.tag(user, [theirs.pk], "news", NOON)
    merge(kept, merged)
    assert posting_state(user, ours.pk).note.text == "To be kept"
    assert Tagging.objects.get().posting == ours


@pytest.mark.parametrize("earlier", ["kept", "merged"])
def test_read_state_survives_the_merge(kept, merged, earlier):
    user = a_user()
    for source in (kept, merged):
        name = "kept" if source == kept else "merged"
        a_follow(user, source, unread_from=NOON - (3 if name == earlier else 1) * HOUR)
        for hours in (4, 2, 0):
            a_posting(source, title=f"{name} {hours}", published_at=NOON - hours * HOUR)
    starred = Posting.objects.get(title="merged 2")
    a_mark(user, starred, starred_at=NOON, read=None)
    before = states(user)
    merge(kept, merged)
    assert states(user) == before
    assert following.unread_counts(user) == {kept.pk: sum(unread for unread, _ in before.values())}


def test_the_former_address_leads_to_the_kept_source(kept, merged):
    address = merged.url
    merge(kept, merged)
    assert sources.by_address([address, kept.url]) == {address: kept.pk, kept.url: kept.pk}
    assert add_sources([Source(url="HTTPS://Merged.example/feed#top")]) == [kept.pk]
    assert discover(a_user(), address, now=NOON).source_id == kept.pk
    assert add_source({"url": address, "title": "Kept again"}, now=NOON) == kept.pk
    user = a_user()
    listed = OpmlDocument(title="", subscriptions=(Subscription(address, title="From a list"),))
    assert following_actions.follows.import_list(user, listed, now=NOON).followed == (kept.pk,)
    assert Source.objects.count() == 1


def test_addresses_lead_on_through_several_merges(kept, merged):
    third = a_source()
    first_address, second_address = merged.url, kept.url
    merge(kept, merged)
    merge(third, kept)
    assert sources.by_address([first_address, second_address]) == {first_address: third.pk, second_address: third.pk}


def test_no_other_source_takes_a_former_address(kept, merged):
    address, other = merged.url, a_source()
    merge(kept, merged)
    assert not move(other.pk, address)
    with pytest.raises(ValueError, match="Another feed already has the address"):
        edit_source(other.pk, now=NOON, url=address)
    edit_source(kept.pk, now=NOON, url=address)  # it may go back to it
    kept.refresh_from_db()
    assert kept.url == address
    assert not FormerAddress.objects.exists()


def test_empty_columns_are_filled_from_the_merged_source(kept, merged):
    merge(kept, merged)
    kept.refresh_from_db()
    assert (kept.title, kept.language, kept.listed) == ("Kept", "de", True)


def test_second_merge_does_nothing(kept, merged):
    a_follow(source=merged)
    some_postings(3, merged)
    assert merge(kept, merged) == Merged(followers=1, moved=3, joined=0)
    assert merge_sources(kept.pk, merged.pk or -1, now=NOON) == Merged(0, 0, 0)
    assert Posting.objects.filter(source=kept).count() == 3


@pytest.mark.parametrize("which", ["itself", "nothing", "index page"])
def test_impossible_merge_is_refused(kept, merged, which):
    page = a_source(kind="index", site=kept)
    target = {"itself": merged.pk, "nothing": -1, "index page": page.pk}[which]
    with pytest.raises(NotMergeable):
        merge_sources(target, merged.pk, now=NOON)
    assert Source.objects.filter(pk=merged.pk).exists()


def test_kept_source_is_scheduled_and_merged_one_is_not(kept, merged):
    a_follow(source=merged)
    a_schedule(merged)
    merge(kept, merged)
    assert list(Schedule.objects.values_list("source", "due_at")) == [(kept.pk, NOON)]


def test_concurrent_retrieval_is_stored_for_the_kept_source_and_dropped_for_the_merged_one():
    kept, merged = a_scheduled_source(), a_scheduled_source()
    begun = {source.pk: begin(source) for source in (kept, merged)}
    merge(kept, merged)
    answers = [decide(each, an_answer(each, NOW, a_feed([NOW])), jitter=0.0) for each in begun.values()]
    assert store(answers) == 1
    assert set(Posting.objects.values_list("source", flat=True)) == {kept.pk}


def test_pages_of_the_merged_source_are_forgotten_and_its_postings_stay(kept, merged):
    posting = a_posting(merged)
    crawl = Crawl.objects.create(source=merged)
    Page.objects.create(source=merged, key=key("page"), url="https://a.example/", posting=posting, found_at=NOON)
    merge(kept, merged)
    assert not Crawl.objects.filter(pk=crawl.pk).exists()
    assert Posting.objects.get().source == kept
