"""The client library of Miniflux' own makers, which knows nothing of us, runs its calls through over HTTP."""

from datetime import timedelta

import miniflux
import pytest

from apps.accounts.actions import make_token
from apps.following import queries
from apps.following.models import Follow, Playback
from apps.following.queries import Scope
from apps.sources.models import Source
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user, some_postings
from tests.web import HTML, RSS, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = b"""<!doctype html><title>A site</title>
<link rel="alternate" type="application/rss+xml" title="News" href="/news">
<link rel="alternate" type="application/atom+xml" title="Sport" href="/sport">"""
FEED = b"<rss version='2.0'><channel><title>News</title><item><title>Won</title><guid>1</guid></item></channel></rss>"


@pytest.fixture
def client(live_server, person):
    secret = make_token(person, "Desk", ["read", "write"], now=NOON)[1]
    with miniflux.Client(live_server.url, "Ada", secret) as client:
        yield client


@pytest.fixture
def site(settings):
    settings.RETRIEVAL_HOST_GAP = settings.RETRIEVAL_MIN_GAP = 0
    with serving_pages({"/": (HTML, PAGE), "/news": (RSS, FEED)}) as web:
        yield web


def test_a_person_is_known_by_name_and_token_or_by_the_token(client, live_server, person):
    assert client.me()["username"] == "Ada"
    secret = make_token(person, "Phone", ["read"], now=NOON)[1]
    with miniflux.Client(live_server.url, api_key=secret) as other:
        assert other.me()["id"] == other.get_user_by_id(person.pk)["id"] == other.get_user_by_username("Ada")["id"]
        with pytest.raises(miniflux.AccessForbidden, match="does not allow changes"):
            other.create_category("News")
    with (
        miniflux.Client(live_server.url, api_key="wb_guessed") as stranger,
        pytest.raises(miniflux.AccessUnauthorized, match="token"),
    ):
        stranger.me()


def test_a_feed_is_found_followed_changed_and_left(client, person, site):
    found = client.discover(site.url("/"))
    assert [(each["title"], each["type"]) for each in found] == [("News", "rss"), ("Sport", "atom")]
    with pytest.raises(miniflux.BadRequest, match="several feeds"):
        client.create_feed(site.url("/"))
    with pytest.raises(miniflux.ResourceNotFound):
        client.discover(site.url("/nothing"))
    category = client.create_category("Papers")
    feed_id = client.create_feed(site.url("/news"), category["id"])
    assert client.discover(site.url("/news"))[0]["url"] == Source.objects.get(pk=feed_id).url
    assert client.get_feed(feed_id)["category"] == category
    with pytest.raises(miniflux.BadRequest, match="already exists"):
        client.create_feed(site.url("/news"))
    assert client.update_feed(feed_id, title="My news", category_id=1)["title"] == "My news"
    assert queries.follow_of(person, feed_id).title == "My news"
    assert [entry["title"] for entry in client.get_feed_entries(feed_id)["entries"]] == ["Won"]
    assert client.refresh_feed(feed_id)
    assert client.refresh_all_feeds()
    assert client.refresh_category(category["id"])
    client.delete_feed(feed_id)
    assert client.get_feeds() == []
    assert not Follow.objects.exists()
    with pytest.raises(miniflux.ResourceNotFound):
        client.get_feed(feed_id)


def test_categories_are_folders(client, person):
    made = client.create_category("News")
    assert client.update_category(made["id"], "Papers")["title"] == "Papers"
    assert [folder.name for folder in queries.folders_of(person)] == ["Papers"]
    assert [each["title"] for each in client.get_categories()] == ["All", "Papers"]
    follow = a_follow(person, folders=tuple(queries.folders_of(person)))
    posting = a_posting(follow.source)
    assert [feed["id"] for feed in client.get_category_feeds(made["id"])] == [follow.source_id]
    assert client.get_category_entries(made["id"], status="unread")["total"] == 1
    assert client.get_category_entry(made["id"], posting.pk)["id"] == posting.pk
    with pytest.raises(miniflux.ResourceNotFound):
        client.get_category_entry(1, posting.pk)
    client.mark_category_entries_as_read(made["id"])
    assert queries.unread_counts(person) == {}
    client.delete_category(made["id"])
    assert not queries.folders_of(person).exists()
    assert queries.follow_of(person, follow.source_id) is not None


def test_marks_are_those_of_the_pages(client, person):
    follow, other = a_follow(person), a_follow(person)
    first, second, third = some_postings(3, follow.source)
    a_posting(other.source)
    assert client.get_feed_counters()["unreads"] == {str(follow.source_id): 3, str(other.source_id): 1}
    assert client.update_entries([first.pk, second.pk], "read")
    assert queries.unread_counts(person)[follow.source_id] == 1
    assert client.get_feed_counters()["reads"] == {str(follow.source_id): 2}
    assert client.update_entries([second.pk], "unread")
    assert client.get_entries(status="unread")["total"] == 3
    assert client.get_entries(status=["read", "unread"])["total"] == 4
    assert client.toggle_bookmark(third.pk)
    assert [posting.pk for posting in queries.postings_in(person, Scope("starred"))] == [third.pk]
    assert client.get_entries(starred=True)["entries"][0]["id"] == third.pk
    client.mark_feed_entries_as_read(follow.source_id)
    assert queries.unread_counts(person) == {other.source_id: 1}
    client.mark_user_entries_as_read(person.pk)
    assert queries.unread_counts(person) == {}
    with pytest.raises(miniflux.ResourceNotFound):
        client.mark_user_entries_as_read(a_user().pk)


def test_entries_have_pages(client, person):
    follow = a_follow(person)
    newest = [posting.pk for posting in some_postings(7, follow.source)]
    pages = [client.get_entries(order="published_at", direction="desc", offset=at, limit=3) for at in (0, 3, 6)]
    assert [entry["id"] for page in pages for entry in page["entries"]] == newest
    assert {page["total"] for page in pages} == {7}
    since = int((NOON - timedelta(minutes=2)).timestamp())
    assert client.get_feed_entries(follow.source_id, after=since)["total"] == 2
    assert client.get_entries(before_entry_id=newest[0])["total"] == 0
    entry = client.get_feed_entry(follow.source_id, newest[2])
    assert client.get_entry(newest[2]) == entry
    assert client.fetch_entry_content(newest[2])["content"] == entry["content"]


def test_recordings_are_gone_on_with(client, person):
    follow = a_follow(person)
    data = [{"url": f"https://a.example/{name}.mp3", "media_type": "audio/mpeg"} for name in "ab"]
    posting = a_posting(follow.source, enclosures=data)
    second = client.get_entry(posting.pk)["enclosures"][1]
    assert client.update_enclosure(second["id"], media_progression=90)
    assert client.get_enclosure(second["id"])["media_progression"] == 90
    assert [each["media_progression"] for each in client.get_entry(posting.pk)["enclosures"]] == [0, 90]
    assert Playback.objects.get().address == "https://a.example/b.mp3"


def test_lists_of_feeds_are_exported_and_imported(client, person):
    a_follow(person, a_source(url="https://a.example/feed"), folders=(a_folder(person, "Papers"),))
    exported = client.export_feeds()
    assert "https://a.example/feed" in exported
    other = exported.replace("a.example", "b.example")
    assert "1 new" in client.import_feeds(other)["message"]
    assert {feed["feed_url"] for feed in client.get_feeds()} == {"https://a.example/feed", "https://b.example/feed"}
    with pytest.raises(miniflux.BadRequest, match="cannot be read"):
        client.import_feeds("Not OPML")


def test_unsupported_calls_are_refused(client, person):
    follow = a_follow(person)
    assert client.get_integrations_status() is False
    assert client.get_version()["version"].count(".") == 2
    assert client.flush_history()
    with pytest.raises(miniflux.ResourceNotFound):
        client.get_users()
    for call in (client.get_feed_icon, client.get_icon, client.save_entry):
        with pytest.raises(miniflux.ResourceNotFound):
            call(follow.source_id)
