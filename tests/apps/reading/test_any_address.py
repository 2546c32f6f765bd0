"""The box for any address: of 40 sites most can be followed by everybody, with a preview of what is found."""

import re
from html import unescape

import pytest
from django.urls import reverse

from apps.following.models import Follow
from apps.retrieval.actions import adding
from apps.sources.models import Source
from tests.builders import a_user
from tests.sites import APIS, ENGLISH, FEEDS, LISTS, OTHERS, SITES
from tests.trials import quick_every
from tests.web import serving_pages

pytestmark = pytest.mark.django_db
CLICKS = 3
BUTTON = re.compile(
    r'<input type="hidden" name="address" value="([^"]*)">(?:<input[^>]*name="accepted" value="([^"]*)">)?'
)


@pytest.fixture
def person(client):
    user = a_user()
    client.force_login(user)
    return user


def walk(client, address):
    """Enter an address and press the first button that each page offers; the pages, and how many clicks it took."""
    fields, pages = {"address": address}, []
    for clicks in range(1, CLICKS + 1):
        answer = client.post(reverse("add"), fields)
        if answer.status_code == 302:
            return pages, clicks
        pages.append(unescape(answer.text))
        if not (button := BUTTON.search(answer.text)):
            return pages, 0
        fields = {"address": unescape(button[1])} | ({"accepted": button[2]} if button[2] else {})
    return pages, 0


@pytest.mark.parametrize(
    "site", [*quick_every(3, [*FEEDS, *LISTS, *APIS]), *quick_every(2, OTHERS)], ids=lambda site: site.name
)
def test_sites_are_followed_or_the_page_says_why_not(client, person, settings, site):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages(site.documents) as web:
        pages, clicks = walk(client, web.url(site.entered))
    if site.reason:
        assert not clicks
        assert site.reason in pages[-1]
        assert not Source.objects.exists()
        return
    assert clicks in (1, 2)
    followed = Follow.objects.get(user=person).source
    if site in OTHERS:
        assert followed.kind == "site"
        assert "can be crawled" in pages[-1]
    elif site in FEEDS:
        assert followed.kind == "feed"
        titles = followed.postings.order_by("pk").values_list("title", flat=True)
        assert set(site.articles) <= set(titles)
    else:
        assert followed.kind in ("xpath", "json")
        shown = re.findall(r'<li dir="auto">(.*?)</li>', pages[-1])
        assert shown[:3] == list(site.articles)


def test_an_offer_is_read_once_and_accepted_only_as_it_was_made(client, person, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages(LISTS[0].documents) as web:
        client.post(reverse("add"), {"address": web.url("/"), "accepted": "site"})
        assert not Source.objects.exists()
        client.post(reverse("add"), {"address": web.url("/"), "accepted": "xpath"})
        assert web.requested_paths.count("/") == 1
    assert Source.objects.get().recipe["item"]


def test_a_page_that_is_known_is_followed_at_once(client, person, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages(LISTS[0].documents) as web:
        walk(client, web.url("/"))
        other = a_user()
        client.force_login(other)
        assert walk(client, web.url("/")) == ([], 1)
    assert Follow.objects.filter(user=other, source__kind="xpath").exists()


def test_the_number_of_sites_without_a_feed_is_limited_for_each_person(client, person, settings, monkeypatch):
    monkeypatch.setattr(adding, "MAX_OFFERS", 1)
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages(LISTS[0].documents | {"/other": LISTS[0].documents["/"]}) as web:
        assert walk(client, web.url("/"))[1] == 2
        pages, clicks = walk(client, web.url("/other"))
    assert not clicks
    assert "sites without a feed per day" in pages[-1]


def test_of_guessed_addresses_only_those_with_feeds_are_offered(client, person, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    [site] = [each for each in SITES if each.name == "a feed at a usual path"]
    with serving_pages(site.documents | {"/atom.xml": ("text/html", b"<p>none</p>")}) as web:
        assert walk(client, web.url("/"))[1] == 1
    assert Source.objects.get().url.endswith("/feed.xml")
    assert Source.objects.get().postings.count() == len(ENGLISH)
