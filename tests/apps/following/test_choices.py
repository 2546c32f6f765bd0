"""Settings of follows, and the limit of new sources per site."""

from datetime import UTC, datetime

import pytest

from apps.following import actions, queries
from apps.following.actions import follows
from apps.following.models import Follow
from apps.following.queries import Scope
from apps.postings.actions import store
from apps.postings.actions.articles import PageOfPosting, fill
from apps.postings.actions.storing import Document
from apps.postings.algorithms.extraction.articles import Article
from apps.postings.models import Posting
from apps.reading.pages.posting import posting_page
from apps.reading.pages.river import ListOptions, river_page
from apps.retrieval.actions import following as retrieval
from apps.retrieval.models import Schedule
from apps.sources.formats.feed import ParsedEntry
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import Source
from apps.web.pages.sidebar import sidebar
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
NEWEST = ListOptions(unread_only=False, order="newest", start=None)
PICTURE = "https://pictures.example/one.jpg"


def test_choices_that_are_not_given_stay_as_they_are():
    follow = a_follow(muted=True, view="cards")
    actions.follows.edit_follow(follow, title="Mine", folders=[], view="magazine")
    follow.refresh_from_db()
    assert (follow.title, follow.view, follow.muted) == ("Mine", "magazine", True)


def test_a_muted_source_is_only_in_its_own_list_and_counts_nowhere_else():
    user = a_user()
    folder = a_folder(user)
    loud, quiet = a_follow(user, folders=(folder,)), a_follow(user, folders=(folder,), muted=True)
    heard = some_postings(2, loud.source)
    unheard = some_postings(3, quiet.source)
    assert set(queries.postings_in(user, Scope("all"))) == set(heard)
    assert set(queries.postings_in(user, Scope("folder", folder.pk))) == set(heard)
    assert set(queries.postings_in(user, Scope("source", quiet.source_id))) == set(unheard)
    beside = dict(sidebar(user).counts())
    assert (beside["all"], beside[f"folder-{folder.pk}"]) == (2, 2)
    assert beside[f"source-{quiet.source_id}"] == 3
    assert Follow.objects.count() == 2


@pytest.mark.parametrize(
    ("person", "source", "shown"),
    [
        ("proxied", "", "/image/"),
        ("proxied", "direct", PICTURE),
        ("proxied", "blocked", ""),
        ("direct", "proxied", "/image/"),
        ("blocked", "direct", PICTURE),
        ("blocked", "", ""),
    ],
)
def test_the_image_setting_of_a_follow_precedes_the_preference(person, source, shown):
    follow = a_follow(a_user(images=person), images=source)
    posting = a_posting(follow.source, image_url=PICTURE, html=f'<p><img src="{PICTURE}" alt="One"></p>')
    [row] = river_page(follow.user, Scope("all"), "All", NEWEST, NOON)["rows"]
    page = posting_page(follow.user, posting.pk)
    for address in (row.image_url, page["image_url"]):
        assert address.startswith(shown) if shown else address == ""
    assert (f'src="{PICTURE}"' in page["html"]) == (shown == PICTURE)


def test_direct_images_of_a_source_are_allowed_by_the_policy(client):
    follow = a_follow(images="direct")
    client.force_login(follow.user)
    assert "img-src 'self' data: https:" in client.get("/river/")["Content-Security-Policy"]
    client.force_login(a_user())
    assert "https:" not in client.get("/river/")["Content-Security-Policy"].split("img-src")[1].split(";")[0]


def a_teaser(source: Source, summary: str = "Only the beginning.") -> Posting:
    entry = ParsedEntry(guid="1", link="https://paper.example/1", title="Title", summary=summary, published=NOON)
    store([Document(source.pk, [entry], "https://paper.example/feed", "", "en", NOON)])
    return Posting.objects.get()


def fill_with(posting: Posting, text: str) -> None:
    article = Article(title="Title", language="en", text=text, html=f"<p>{text}</p>", confidence=1.0, extractor="test")
    assert fill(posting.pk, PageOfPosting(posting.url, article, b"", datetime(2024, 5, 1, tzinfo=UTC)))


def html_for(follow: Follow, posting: Posting) -> str:
    return posting_page(follow.user, posting.pk)["html"]


def test_followers_choose_between_text_of_feed_and_page():
    source = a_source()
    posting = a_teaser(source)
    fill_with(posting, "All that stands on the page. " * 20)
    fill_with(posting, "All that stands on the page, and better. " * 20)
    usual, own = a_follow(source=source), a_follow(source=source, full_text="feed")
    assert "and better" in html_for(usual, posting)
    assert html_for(own, posting) == "Only the beginning."
    a_teaser(source, "Only another beginning.")
    assert "and better" in html_for(usual, posting)
    assert html_for(own, posting) == "Only another beginning."


def test_pages_are_fetched_while_a_follower_wants_them():
    follow = a_follow(full_text="page")
    assert queries.wants_pages(follow.source_id)
    actions.follows.edit_follow(follow, title="", folders=[], full_text="feed")
    assert not queries.wants_pages(follow.source_id)


# --- lists from other readers -----------------------------------------------------------------------------------------
def a_list_of(*addresses: str) -> OpmlDocument:
    return OpmlDocument(subscriptions=tuple(Subscription(address) for address in addresses))


def test_a_list_cannot_make_the_portal_flood_a_site(monkeypatch):
    """One list with many made-up addresses of a single site once turned readers into amplifiers (GHSA-83jp)."""
    monkeypatch.setattr(follows, "MAX_OF_A_SITE", 10)
    user = a_user()
    addresses = [f"https://victim.example/feed?{number}" for number in range(200)]
    addresses += [f"https://{number}.victim.example/feed" for number in range(200)]
    report = retrieval.import_list(user, a_list_of(*addresses, "https://other.example/feed"), now=NOON)
    assert len(report.followed) == 11
    assert ["390" in skipped.reason and "victim.example" in skipped.reason for skipped in report.skipped] == [True]
    assert Schedule.objects.count() == 11

    # Neither does one list after the other.
    report = retrieval.import_list(user, a_list_of(*(f"{address}&again" for address in addresses)), now=NOON)
    assert not report.followed
    assert Source.objects.filter(url__contains="victim.example").count() == 10


def test_known_sources_of_a_site_are_unlimited(monkeypatch):
    monkeypatch.setattr(follows, "MAX_OF_A_SITE", 1)
    known = [a_source(url=f"https://large.example/{number}", listed=True).url for number in range(5)]
    report = retrieval.import_list(a_user(), a_list_of(*known, "https://large.example/new"), now=NOON)
    assert len(report.followed) == 6
    assert not report.skipped


def test_a_very_large_list_is_imported_completely():
    addresses = [f"https://site{number}.example/feed" for number in range(300)]
    report = retrieval.import_list(a_user(), a_list_of(*addresses), now=NOON)
    assert len(report.followed) == 300
    assert Schedule.objects.filter(due_at=NOON, reason="first check").count() == 300
