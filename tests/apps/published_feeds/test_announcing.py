"""Hubs are notified of changes in requested feeds: once, with retries after failures."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from apps.database.backoff import DELIVERY_DELAYS
from apps.published_feeds import actions
from apps.published_feeds.actions import announcing
from apps.published_feeds.models import RequestedFeed
from apps.published_feeds.queries.channels import Channel
from tests.apps.websub.hub import Answer, serving
from tests.builders import NOON, a_follow, a_posting, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def hub(settings):
    with serving() as hub:
        settings.PUBLISHING_HUBS = [hub.url("/publish")]
        settings.PROJECT_URL = "https://portal.example"
        settings.RETRIEVAL_OPEN_HOSTS = []
        settings.RETRIEVAL_HOST_GAP = 0
        yield hub


@pytest.fixture
def follow():
    follow = a_follow()
    a_posting(follow.source, title="First", published_at=NOON)
    return follow


@pytest.fixture
def channel(follow):
    return Channel("private", actions.make_address(follow.user, "all", now=NOON).secret)


def in_minutes(minutes: float):
    return timezone.now() + timedelta(minutes=minutes)


def test_feed_links_its_hub(client, hub, channel):
    for form in ("rss", "atom", "json"):
        answer = client.get(channel.path(form))
        address = f"https://portal.example{channel.path(form)}"
        assert answer["Link"] == f'<{address}>; rel="self", <{hub.url("/publish")}>; rel="hub"'
        assert hub.url("/publish") in answer.text
        assert address in answer.text


def test_without_hub_requests_are_not_noted(client, channel):
    answer = client.get(channel.path("rss"))
    assert "hub" not in answer["Link"]
    assert not RequestedFeed.objects.exists()
    assert actions.announce_due(now=in_minutes(1)) == 0


def test_change_is_announced_once(client, hub, follow, channel):
    client.get(channel.path("atom"))
    assert actions.announce_due(now=in_minutes(1)) == 0
    a_posting(follow.source, title="Second", published_at=NOON)
    assert actions.announce_due(now=in_minutes(2)) == 1
    [(path, form)] = hub.forms
    topic = f"https://portal.example{channel.path('atom')}"
    assert (path, form["hub.mode"], form["hub.url"]) == ("/publish", "publish", topic)
    assert actions.announce_due(now=in_minutes(3)) == 0
    assert len(hub.forms) == 1


def test_changes_within_the_gap_are_announced_together(client, hub, follow, channel):
    client.get(channel.path("rss"))
    a_posting(follow.source)
    assert actions.announce_due(now=in_minutes(1)) == 1
    a_posting(follow.source)
    a_posting(follow.source)
    assert actions.announce_due(now=in_minutes(1) + announcing.CHECK_GAP / 2) == 0
    assert actions.announce_due(now=in_minutes(2)) == 1
    assert len(hub.forms) == 2


def test_failing_hub_is_retried_with_back_off_until_the_last_delay(client, hub, follow, channel):
    client.get(channel.path("rss"))
    a_posting(follow.source)
    hub.answers["/publish"] = Answer(503)
    at, waits = in_minutes(1), []
    for _ in range(len(DELIVERY_DELAYS)):
        assert actions.announce_due(now=at) == 0
        row = RequestedFeed.objects.get()
        assert row.last_error == "It answered with the status 503."
        waits.append(row.due_at - at)
        at = row.due_at
    assert all(wait >= planned for wait, planned in zip(waits, DELIVERY_DELAYS, strict=True))
    actions.announce_due(now=at)
    assert RequestedFeed.objects.get().waiting_hubs == []
    tried = len(hub.forms)
    actions.announce_due(now=RequestedFeed.objects.get().due_at)
    assert len(hub.forms) == tried == len(DELIVERY_DELAYS) + 1


def test_only_the_failed_hub_is_retried(client, hub, follow, channel, settings):
    settings.PUBLISHING_HUBS = [hub.url("/publish"), hub.url("/other")]
    hub.answers["/other"] = Answer(500)
    client.get(channel.path("rss"))
    a_posting(follow.source)
    assert actions.announce_due(now=in_minutes(1)) == 1
    hub.answers.clear()
    assert actions.announce_due(now=RequestedFeed.objects.get().due_at) == 1
    assert [path for path, _ in hub.forms] in (["/publish", "/other", "/other"], ["/other", "/publish", "/other"])


def test_leased_feed_is_skipped_until_the_lease_expires(client, hub, follow, channel):
    client.get(channel.path("rss"))
    a_posting(follow.source)
    feed = RequestedFeed.objects.get()
    dead = announcing._lease(feed.pk, in_minutes(1))
    assert dead is not None
    assert actions.announce_due(now=in_minutes(1)) == 0
    assert actions.announce_due(now=in_minutes(3)) == 1
    announcing._finish(dead, announcing._Check("other", (), 0.0), {}, now=in_minutes(4), took=0.0)
    assert RequestedFeed.objects.get().digest != "other"


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_announce_once(client, hub, follow, channel):
    client.get(channel.path("rss"))
    a_posting(follow.source)
    at = in_minutes(1)

    def announce(_: int) -> int:
        try:
            return actions.announce_due(now=at)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(announce, range(4))) == 1
    assert len(hub.forms) == 1


def test_feed_of_a_renewed_address_is_deleted(client, hub, follow, channel):
    client.get(channel.path("rss"))
    actions.renew_address(follow.user, follow.user.private_addresses.get().pk, now=NOON)
    assert actions.announce_due(now=in_minutes(1)) == 0
    assert not RequestedFeed.objects.exists()
    assert not hub.forms


def test_unused_feed_is_forgotten(client, hub, channel):
    client.get(channel.path("rss"))
    assert actions.forget_unused(now=in_minutes(60)) == 0
    assert actions.forget_unused(now=in_minutes(0) + announcing.MAX_AGE) == 1


def test_requests_are_noted_at_intervals_and_up_to_a_limit(client, hub, channel, monkeypatch):
    client.get(channel.path("rss"))
    first = RequestedFeed.objects.get().requested_at
    client.get(channel.path("rss"))
    assert RequestedFeed.objects.get().requested_at == first
    RequestedFeed.objects.update(requested_at=first - timedelta(hours=1))
    client.get(channel.path("rss"))
    assert RequestedFeed.objects.get().requested_at > first - timedelta(hours=1)
    client.get(reverse("trends_feed"), {"language": "xx", "category": "made up"})
    assert RequestedFeed.objects.count() == 1
    monkeypatch.setattr(announcing, "MAX_FEEDS", 1)
    assert client.get(channel.path("atom")).status_code == 200
    assert RequestedFeed.objects.count() == 1


def test_a_public_feed_is_announced_too(client, hub, settings):
    from apps.stories.models import Member, Story  # noqa: PLC0415

    posting = a_posting(title="Rain")
    Story.objects.create(
        pk=7, lead_id=posting.pk, language="en", reports=2, copies=0, sources=2, first_at=NOON, latest_at=NOON
    )
    Member.objects.create(posting_id=posting.pk, story_id=7, source_id=posting.source_id, published_at=NOON)
    client.get(reverse("story_feed", args=[7]))
    other = a_posting(title="More rain")
    Member.objects.create(posting_id=other.pk, story_id=7, source_id=other.source_id, published_at=NOON)
    assert actions.announce_due(now=in_minutes(1)) == 1
    assert hub.form["hub.url"] == "https://portal.example/stories/7/feed/"


def test_nothing_is_announced_without_lists(hub):
    a_user()
    assert actions.announce_due(now=in_minutes(1)) == 0
