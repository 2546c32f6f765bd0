"""A client library that others wrote for FreshRSS runs its calls of Fever through over HTTP."""

import pytest
from freshrss_api import APIError, AuthenticationError, FreshRSSAPI

from apps.accounts.actions import make_token
from apps.following import queries
from apps.following.queries import Scope
from tests.builders import NOON, a_folder, a_follow, some_postings

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(person):
    return make_token(person, "Desk", ["read", "write"], now=NOON, for_fever=True)[1]


@pytest.fixture
def client(live_server, secret):
    return FreshRSSAPI(host=live_server.url, username="Ada", password=secret)


def test_it_signs_in_with_a_token_that_was_made_for_it(live_server, person, client):
    other = make_token(person, "Phone", ["read", "write"], now=NOON)[1]
    for wrong in (other, "wb_guessed"):
        with pytest.raises(AuthenticationError):
            FreshRSSAPI(host=live_server.url, username="Ada", password=wrong)


def test_follows_are_listed(client, person):
    folder = a_folder(person, "Papers")
    follow = a_follow(person, folders=(folder,), title="The Daily")
    assert [feed["title"] for feed in client.get_feeds()["feeds"]] == ["The Daily"]
    data = client.get_groups()
    assert [group["title"] for group in data["groups"]] == ["Papers"]
    assert data["feeds_groups"] == [{"group_id": folder.pk, "feed_ids": str(follow.source_id)}]


def test_marks_are_those_of_the_pages(client, person):
    postings = some_postings(60, a_follow(person).source)  # more than come at once
    assert sorted(item.id for item in client.get_unreads()) == sorted(posting.pk for posting in postings)
    first, second = postings[:2]
    assert str(first.pk) not in client.set_mark("read", first.pk)["unread_item_ids"].split(",")
    assert queries.unread_counts(person) == {first.source_id: 59}
    client.set_mark("saved", second.pk)
    assert [(item.id, item.is_saved, item.is_read) for item in client.get_saved()] == [(second.pk, True, False)]
    assert list(queries.postings_in(person, Scope("starred"))) == [second]
    client.set_mark("unsaved", second.pk)
    assert client.get_saved() == []
    [item] = client.get_items_from_ids([first.pk])
    assert (item.title, item.is_read, item.readable) == (first.title, True, first.text)
    with pytest.raises(APIError):
        client.get_items_from_ids([10**9])


def test_items_after_an_id_have_pages(client, person):
    postings = some_postings(120, a_follow(person).source)
    assert len(client.get_items_from_dates(since=0)) == len(postings)
