"""OPML lists on the web that a person stays in sync with: new feeds are followed, removed ones unfollowed again."""

from datetime import timedelta

import pytest
from django.urls import reverse

from apps.following.actions.errors import NotPossible
from apps.following.models import Follow, FollowedList
from apps.retrieval import tasks
from apps.retrieval.actions import following
from apps.retrieval.models import Schedule
from lab.worlds.receivers import DOMAIN, Receiver, receiving
from tests.builders import NOON, a_follow, a_source, a_user
from tests.web import clear_cache

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def site(settings):
    settings.RETRIEVAL_OPEN_HOSTS = [f".{DOMAIN}"]
    settings.RETRIEVAL_HOST_GAP = 0.0
    with receiving() as receiver:
        yield receiver


def publish(site: Receiver, *names: str, broken: bool = False) -> str:
    rows = "".join(f'<outline text="{name}" xmlUrl="https://{name}.example/feed"/>' for name in names)
    clear_cache()  # it keeps documents for an hour
    site.body = f"<opml><body>{rows}{'' if broken else '</body></opml>'}".encode()
    return site.url("/list.opml")


def followed(user) -> set[str]:
    return {follow.source.url.split("/")[2].split(".")[0] for follow in Follow.objects.filter(user=user)}


@pytest.fixture
def user():
    return a_user()


def sync(*, days: int = 1) -> int:
    return following.sync_lists(now=NOON + days * DAY)


def test_added_feeds_are_followed_and_removed_ones_unfollowed(user, site):
    report = following.follow_list(user, publish(site, "storms", "floods"), now=NOON)
    assert len(report.followed) == 2
    publish(site, "floods", "quakes")
    assert sync(days=0) == 0  # not due
    assert sync() == 1
    assert followed(user) == {"floods", "quakes"}
    assert Schedule.objects.get(source__url="https://quakes.example/feed").due_at is not None
    assert Schedule.objects.get(source__url="https://storms.example/feed").due_at is None
    assert sync() == 0


def test_feeds_followed_otherwise_stay_followed(user, site):
    a_follow(user, a_source(url="https://storms.example/feed"))
    following.follow_list(user, publish(site, "storms", "floods"), now=NOON)
    publish(site, "quakes")
    sync()
    assert followed(user) == {"storms", "quakes"}


@pytest.mark.parametrize("fault", ["gone", "empty", "broken", "no list"])
def test_a_list_that_fails_or_is_damaged_ends_nothing_and_says_why(user, site, fault):
    following.follow_list(user, publish(site, "storms", "floods"), now=NOON)
    if fault == "gone":
        site.behave = lambda _: 404
        clear_cache()
    elif fault == "no list":
        clear_cache()
        site.body = b"<html></html>"
    else:
        publish(site, *(["quakes"] if fault == "broken" else []), broken=fault == "broken")
    sync()
    assert {"storms", "floods"} <= followed(user)
    assert bool(FollowedList.objects.get().problem) == (fault != "empty")
    site.behave = lambda _: 200
    publish(site, "storms")
    sync(days=2)
    assert "floods" not in followed(user)
    assert FollowedList.objects.get().problem == ""


def test_lists_are_limited_and_one_given_twice_counts_once(user, site, monkeypatch):
    monkeypatch.setattr(following, "MAX_LISTS", 1)
    address = publish(site, "storms")
    following.follow_list(user, address, now=NOON)
    following.follow_list(user, address, now=NOON + DAY)
    with pytest.raises(NotPossible, match="at most 1 lists"):
        following.follow_list(user, site.url("/other.opml"), now=NOON + DAY)
    assert FollowedList.objects.count() == 1


def test_leaving_a_list_keeps_its_feeds(user, site, client):
    client.force_login(user)
    address = publish(site, "storms")
    page = client.post(reverse("opml"), {"address": address, "follow": "on"}).content.decode()
    assert address in page
    row = FollowedList.objects.get()
    client.force_login(a_user())
    assert client.post(reverse("leave_list", args=[row.pk])).status_code == 404
    client.force_login(user)
    client.post(reverse("leave_list", args=[row.pk]))
    assert not FollowedList.objects.exists()
    publish(site)
    tasks.sync_lists()
    assert followed(user) == {"storms"}


def test_only_an_address_can_be_kept_up_with(user, client):
    client.force_login(user)
    page = client.post(reverse("opml"), {"follow": "on"}).content.decode()
    assert "Only a list at an address can be kept in sync." in page or "Give either a file or an address." in page
