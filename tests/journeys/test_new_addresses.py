"""The limit of unknown addresses that a user may have fetched holds at every endpoint."""

import json
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from apps.accounts.actions import make_token
from apps.accounts.models import User
from apps.following.models import Follow
from apps.retrieval.actions.adding import MAX_LOOKUPS, count_lookup
from apps.sources.formats import opml
from tests.builders import a_source, a_user
from tests.web import RSS, serving_pages

pytestmark = pytest.mark.django_db

FEED = b"<rss version='2.0'><channel><title>Sport</title><item><title>Won</title><guid>1</guid></item></channel></rss>"
LIST = opml.write(opml.OpmlDocument(), now())
REFUSAL = f"At most {MAX_LOOKUPS} new addresses"

Endpoint = Callable[[User, str], HttpResponse]


@pytest.fixture
def web(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages({"/sport": (RSS, FEED), "/list": ("text/x-opml", LIST)}) as web:
        yield web


def by_page(name: str) -> Endpoint:
    def send(person: User, address: str) -> HttpResponse:
        client = Client()
        client.force_login(person)
        return client.post(reverse(name), {"address": address})

    return send


def by_program(path: str, field: str, *, prefix: str = "", is_form: bool = False, **others: str) -> Endpoint:
    def send(person: User, address: str) -> HttpResponse:
        secret = make_token(person, "program", ["read", "write"], now=now())[1]
        fields = others | {field: prefix + address}
        body = {"data": fields} if is_form else {"data": json.dumps(fields), "content_type": "application/json"}
        return Client().post(path, headers={"authorization": f"Bearer {secret}"}, **body)

    return send


GOOGLE_READER = "/reader/api/0/subscription/"
FOLLOWING = {
    "page": by_page("add"),
    "own interface": by_program("/api/v1/follows", "address"),
    "Miniflux": by_program("/v1/feeds", "feed_url"),
    "Google Reader's edit": by_program(f"{GOOGLE_READER}edit", "s", prefix="feed/", is_form=True, ac="subscribe"),
    "Google Reader's quickadd": by_program(f"{GOOGLE_READER}quickadd", "quickadd", is_form=True),
}
DISCOVERY = {"Miniflux' discovery": by_program("/v1/discover", "url"), "page of lists": by_page("opml")}
PAGES = {"page", "page of lists"}
ENDPOINTS = FOLLOWING | DISCOVERY


def each_of(endpoints: dict[str, Endpoint]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("endpoint", list(endpoints))


def fetched_paths(web) -> list[str]:
    return [path for path in web.requested_paths if path != "/robots.txt"]


def spend(person: User, lookups: int = MAX_LOOKUPS) -> None:
    for _ in range(lookups):
        count_lookup(person)


@each_of(ENDPOINTS)
def test_the_last_address_is_fetched_and_one_more_is_not(endpoint, web):
    person = a_user()
    spend(person, MAX_LOOKUPS - 1)
    path = "/list" if endpoint == "page of lists" else "/sport"
    assert REFUSAL not in ENDPOINTS[endpoint](person, web.url(path)).text
    assert fetched_paths(web) == [path]

    response = ENDPOINTS[endpoint](person, web.url("/one-more"))
    assert response.status_code == (200 if endpoint in PAGES else 429)
    assert REFUSAL in response.text
    assert fetched_paths(web) == [path]


@each_of(FOLLOWING)
def test_known_feeds_are_followed_beyond_the_limit_and_cost_nothing(endpoint):
    person, source = a_user(), a_source()
    spend(person, MAX_LOOKUPS - 1)
    FOLLOWING[endpoint](person, source.url)
    assert Follow.objects.get(user=person).source == source
    spend(person, 1)
    other = a_source()
    FOLLOWING[endpoint](person, other.url)
    assert Follow.objects.filter(user=person, source=other).exists()


def test_known_feeds_are_returned_to_programs_beyond_the_limit():
    person, source = a_user(), a_source()
    spend(person)
    assert DISCOVERY["Miniflux' discovery"](person, source.url).json()[0]["url"] == source.url


@each_of(FOLLOWING)
def test_the_limit_of_one_user_does_not_limit_others(endpoint, web):
    spend(a_user())
    other = a_user()
    FOLLOWING[endpoint](other, web.url("/sport"))
    assert Follow.objects.get(user=other).source.url == web.url("/sport")


@each_of(FOLLOWING)
def test_an_invalid_address_costs_nothing(endpoint):
    person = a_user()
    spend(person, MAX_LOOKUPS - 1)
    FOLLOWING[endpoint](person, "ftp://site.example/feed")
    spend(person, 1)


def test_the_rest_api_sends_retry_after():
    person = a_user()
    spend(person)
    assert FOLLOWING["own interface"](person, "https://new.example/feed")["Retry-After"] == "3600"
