"""Links to feeds, private addresses, and pages shared from other sites."""

import json
import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from apps.following.models import Follow, Mark, Tag
from apps.postings.queries.recognition import link_key_of
from apps.published_feeds import actions
from apps.published_feeds.models import PrivateAddress
from apps.sources.formats import opml
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user
from tests.web import serving_pages

pytestmark = pytest.mark.django_db
ALTERNATE = re.compile(r'<link rel="alternate" type="([^"]+)" title="[^"]*" href="http://localhost:8000([^"]+)">')


@pytest.fixture
def ann(client):
    ann = a_user("ann")
    client.force_login(ann)
    return ann


# --- secret addresses -------------------------------------------------------------------------------------------------
def test_a_list_gets_its_address_by_a_form_and_names_it_from_then_on(client, ann):
    folder, tag = a_folder(ann), Tag.objects.create(user=ann, name="rain")
    pages = {
        "all-0": reverse("river"),
        "starred-0": reverse("river_starred"),
        f"folder-{folder.pk}": reverse("river_folder", args=[folder.pk]),
        f"tag-{tag.pk}": reverse("river_tag", args=[tag.pk]),
        "shared-0": reverse("shares"),
    }
    for choice, page in pages.items():
        before = client.get(page).text
        assert f'name="list" value="{choice}"' in before
        assert not ALTERNATE.findall(before)
        assert client.post(reverse("make_private_address"), {"list": choice}).status_code == 302
        links = ALTERNATE.findall(client.get(page).text)
        assert [kind for kind, _ in links] == ["application/rss+xml", "application/atom+xml", "application/feed+json"]
        assert all(Client().get(path).status_code == 200 for _, path in links)
    assert PrivateAddress.objects.count() == len(pages)


def test_showing_a_page_creates_no_address(client, ann):
    for page in ("river", "river_starred", "shares", "private_addresses"):
        client.get(reverse(page))
    assert not PrivateAddress.objects.exists()


def test_addresses_are_renewed_and_taken_away_on_their_page(client, ann):
    client.post(reverse("make_private_address"), {"list": "starred-0"})
    private = PrivateAddress.objects.get()
    change = reverse("change_private_address", args=[private.pk])
    assert private.secret in client.get(reverse("private_addresses")).text
    text = client.post(change, {"do": "renew"}, follow=True).text
    assert private.secret not in text
    assert PrivateAddress.objects.get().secret in text
    assert "None of your lists has a private URL" in client.post(change, {"do": "end"}, follow=True).text
    assert client.post(change, {"do": "end"}).status_code == 404


def test_foreign_addresses_are_hidden_and_unchangeable(client, ann):
    theirs = actions.make_address(a_user(), "all", now=NOON)
    folder = a_folder(a_user())
    assert theirs.secret not in client.get(reverse("private_addresses")).text
    assert client.post(reverse("change_private_address", args=[theirs.pk]), {"do": "renew"}).status_code == 404
    for choice in (f"folder-{folder.pk}", "folder-x", "nonsense", ""):
        assert client.post(reverse("make_private_address"), {"list": choice}).status_code == 404
    theirs.refresh_from_db()
    client.logout()
    assert client.get(reverse("private_addresses")).status_code == 302


def test_public_pages_name_their_feeds(client, ann):
    from apps.stories.models import Section  # noqa: PLC0415

    Section.objects.create(slug="world", title="World", category="world", place=1, changed_at=NOON)
    links = ALTERNATE.findall(client.get(reverse("section", args=["world"])).text)
    assert links
    assert all(client.get(unescape(path)).status_code == 200 for _, path in links)


# --- lists of sources -------------------------------------------------------------------------------------------------
def test_followed_feeds_are_opml_at_a_secret_address(client, ann):
    folder = a_folder(ann, "Papers")
    source = a_follow(ann, a_source(title="Gazette"), folders=(folder,)).source
    private = actions.make_address(ann, "sources", now=NOON)
    path = reverse("private_sources", args=[private.secret])
    answer = Client().get(path)
    [subscription] = opml.read(answer.content).subscriptions
    assert (subscription.xml_url, subscription.folders) == (source.url, (("Papers",),))
    assert answer["Content-Type"].startswith("text/x-opml")
    assert Client().get(path, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    a_follow(ann)
    assert Client().get(path, headers={"If-None-Match": answer["ETag"]}).status_code == 200
    assert Client().get(reverse("private_feed", args=[private.secret, "rss"])).status_code == 404
    assert path in client.get(reverse("private_addresses")).text


LIST = b'<opml version="2.0"><body><outline text="A" xmlUrl="https://a.example/feed"/></body></opml>'


def test_a_list_is_taken_over_from_its_address(client, ann, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with serving_pages({"/list.opml": ("text/x-opml", LIST), "/page": ("text/html", b"<p>No list</p>")}) as web:
        text = client.post(reverse("opml"), {"address": web.url("/list.opml")}).text
        assert "<strong>1</strong> newly followed" in text
        assert Follow.objects.get(user=ann).source.url == "https://a.example/feed"
        for path, problem in (("/page", "cannot be read"), ("/none", "answered with status 404")):
            assert problem in client.post(reverse("opml"), {"address": web.url(path)}).text
    assert Follow.objects.count() == 1


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1/list.opml", "file:///etc/passwd", "http://10.0.0.1/x", "nothing"]
)
def test_no_list_is_fetched_from_where_sources_may_not_lie(client, ann, address):
    assert "Nothing was imported" in client.post(reverse("opml"), {"address": address}).text
    assert not Follow.objects.exists()


def test_a_list_is_a_file_or_an_address(client, ann):
    assert "either a file or an address" in client.post(reverse("opml"), {"address": " "}).text


# --- pages from elsewhere ---------------------------------------------------------------------------------------------
def save(client, **shared):
    return client.get(reverse("save_page"), shared).text


def test_a_page_that_is_here_can_be_starred_by_a_form(client, ann):
    posting = a_posting(
        url="https://news.example/rain/1", title="Rain", link_key=link_key_of("https://news.example/rain/1")
    )
    text = save(client, url="http://www.news.example/rain/1/?utm_source=x", title="Rain – News")
    assert reverse("mark", args=[posting.pk]) in text
    assert not Mark.objects.exists()
    client.post(reverse("mark", args=[posting.pk]), {"starred": "yes"})
    assert ">Star<" not in save(client, url="https://news.example/rain/1")


def test_site_of_an_unknown_page_can_be_followed(client, ann):
    secret = a_posting(a_source(listed=False), title="Not yours", link_key=link_key_of("https://news.example/rain/1"))
    a_mark(a_user(), secret, starred_at=NOON)
    text = save(client, text="Look: https://news.example/rain/1 !")
    assert "it cannot be starred" in text
    assert "Not yours" not in text
    assert 'name="address" value="https://news.example/rain/1"' in text


@pytest.mark.parametrize("shared", [{}, {"url": "javascript:alert(1)"}, {"text": "nothing \x00"}, {"url": "x" * 5_000}])
def test_text_without_address_is_refused(client, ann, shared):
    assert "No web address was received" in save(client, **shared)


def test_sign_in_returns_to_the_shared_page(client):
    answer = client.get(reverse("save_page"), {"url": "https://news.example/"})
    assert answer.url == "/accounts/login/?next=/save/%3Furl%3Dhttps%253A%252F%252Fnews.example%252F"


def test_the_portal_is_something_to_share_with(client):
    target = json.loads(client.get(reverse("manifest")).content)["share_target"]
    assert target == {
        "action": "/save/",
        "method": "GET",
        "params": {"title": "title", "text": "text", "url": "url"},
    }


def test_buttons_lead_to_the_pages_that_take_addresses(client, ann):
    text = unescape(client.get(reverse("buttons")).text)
    assert "javascript:void(location=\"http://localhost:8000/save/\"+'?url='+encodeURIComponent(location.href)" in text
    assert (
        "javascript:void(location=\"http://localhost:8000/add/\"+'?address='+encodeURIComponent(location.href))" in text
    )
