"""However a person names addresses, the portal asks sites for so many that it does not know, and no more."""

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
from apps.retrieval.actions.lookups import MOST_LOOKUPS, count_lookup
from apps.sources.formats import opml
from tests.builders import a_source, a_user
from tests.web import RSS, serving_pages

pytestmark = pytest.mark.django_db

FEED = b"<rss version='2.0'><channel><title>Sport</title><item><title>Won</title><guid>1</guid></item></channel></rss>"
LIST = opml.write(opml.OpmlDocument(), now())
REFUSAL = f"At most {MOST_LOOKUPS} new addresses"

Door = Callable[[User, str], HttpResponse]


@pytest.fixture
def web(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages({"/sport": (RSS, FEED), "/list": ("text/x-opml", LIST)}) as web:
        yield web


def by_page(name: str) -> Door:
    def ask(person: User, address: str) -> HttpResponse:
        client = Client()
        client.force_login(person)
        return client.post(reverse(name), {"address": address})

    return ask


def by_program(path: str, field: str, *, prefix: str = "", is_form: bool = False, **others: str) -> Door:
    def ask(person: User, address: str) -> HttpResponse:
        secret = make_token(person, "program", ["read", "write"], now=now())[1]
        said = others | {field: prefix + address}
        body = {"data": said} if is_form else {"data": json.dumps(said), "content_type": "application/json"}
        return Client().post(path, headers={"authorization": f"Bearer {secret}"}, **body)

    return ask


GOOGLE_READER = "/reader/api/0/subscription/"
FOLLOWING = {
    "page": by_page("add"),
    "own interface": by_program("/api/v1/follows", "address"),
    "Miniflux": by_program("/v1/feeds", "feed_url"),
    "Google Reader's edit": by_program(f"{GOOGLE_READER}edit", "s", prefix="feed/", is_form=True, ac="subscribe"),
    "Google Reader's quickadd": by_program(f"{GOOGLE_READER}quickadd", "quickadd", is_form=True),
}
LOOKING = {"Miniflux' discovery": by_program("/v1/discover", "url"), "page of lists": by_page("opml")}
PAGES = {"page", "page of lists"}
DOORS = FOLLOWING | LOOKING


def each_of(doors: dict[str, Door]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("door", list(doors))


def paths_asked(web) -> list[str]:
    return [path for path in web.asked if path != "/robots.txt"]


def spend(person: User, lookups: int = MOST_LOOKUPS) -> None:
    for _ in range(lookups):
        count_lookup(person)


@each_of(DOORS)
def test_the_last_address_is_asked_for_and_one_more_is_not(door, web):
    person = a_user()
    spend(person, MOST_LOOKUPS - 1)
    path = "/list" if door == "page of lists" else "/sport"
    assert REFUSAL not in DOORS[door](person, web.url(path)).text
    assert paths_asked(web) == [path]

    answer = DOORS[door](person, web.url("/one-more"))
    assert answer.status_code == (200 if door in PAGES else 429)
    assert REFUSAL in answer.text
    assert paths_asked(web) == [path]


@each_of(FOLLOWING)
def test_what_the_portal_knows_is_followed_nevertheless_and_costs_nothing(door):
    person, source = a_user(), a_source()
    spend(person, MOST_LOOKUPS - 1)
    FOLLOWING[door](person, source.url)
    assert Follow.objects.get(user=person).source == source
    spend(person, 1)
    other = a_source()
    FOLLOWING[door](person, other.url)
    assert Follow.objects.filter(user=person, source=other).exists()


def test_what_the_portal_knows_is_told_to_programs_that_look_for_feeds_nevertheless():
    person, source = a_user(), a_source()
    spend(person)
    assert LOOKING["Miniflux' discovery"](person, source.url).json()[0]["url"] == source.url


@each_of(FOLLOWING)
def test_other_people_follow_what_is_new(door, web):
    spend(a_user())
    other = a_user()
    FOLLOWING[door](other, web.url("/sport"))
    assert Follow.objects.get(user=other).source.url == web.url("/sport")


@each_of(FOLLOWING)
def test_what_can_be_no_address_costs_nothing(door):
    person = a_user()
    spend(person, MOST_LOOKUPS - 1)
    FOLLOWING[door](person, "ftp://site.example/feed")
    spend(person, 1)


def test_programs_of_our_own_interface_hear_when_to_come_again():
    person = a_user()
    spend(person)
    assert FOLLOWING["own interface"](person, "https://new.example/feed")["Retry-After"] == "3600"
