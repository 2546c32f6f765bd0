"""Layouts of lists and texts, and that chosen ones are stored."""

import re
from html import unescape
from urllib.parse import unquote

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts import actions as accounts
from apps.accounts.models import User
from apps.following.models import Mark
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


def layout(page):
    return page.split('<div class="rows is-')[1].split('"')[0].split()[0]


def test_lists_have_the_default_layout_until_changed(client, user):
    some_postings(2, a_follow(user).source)
    assert layout(client.get("/river/").text) == "list"


@pytest.mark.parametrize("view", ["compact", "cards", "magazine", "list"])
def test_a_layout_that_was_chosen_is_remembered(client, user, view):
    some_postings(2, a_follow(user).source)
    assert layout(client.get(f"/river/?view={view}").text) == view
    assert layout(client.get("/river/").text) == view
    assert layout(client.get("/river/?view=nonsense").text) == view


def test_the_count_of_a_whole_list_does_not_stand_over_a_filtered_one(client, user):
    some_postings(2, a_follow(user).source)
    assert 'class="bar-count"' in client.get("/river/").text
    assert 'class="bar-count"' not in client.get("/river/?q=words").text


@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Purpose": "prefetch"}])
def test_foreign_links_and_prefetches_do_not_change_the_layout(client, user, header):
    some_postings(2, a_follow(user).source)
    assert layout(client.get("/river/?view=cards", headers=header).text) == "cards"
    assert (User.objects.get().view, User.objects.get().list_views) == ("list", {})


def test_each_list_has_a_layout_of_its_own(client, user):
    folder = a_folder(user)
    source = a_follow(user, folders=(folder,)).source
    some_postings(2, source)
    addresses = ["/river/", f"/river/folder/{folder.pk}/", f"/river/source/{source.pk}/", "/river/starred/"]
    a_mark(user, source.postings.first(), starred_at=NOON)
    for address, view in zip(addresses, ["compact", "cards", "magazine", "list"], strict=True):
        client.get(f"{address}?view={view}")
    assert [layout(client.get(address).text) for address in addresses] == ["compact", "cards", "magazine", "list"]
    assert User.objects.get().view == "list"


def test_layouts_of_lists_are_imported_only_if_they_are_some(user):
    assert accounts.restore_preferences(user, {"list_views": {"all-0": "cards"}}) == []
    for nonsense in (["cards"], {"all-0": "<script>"}, {"all-0": ["cards"]}):
        assert accounts.restore_preferences(user, {"list_views": nonsense}) == ["list_views"]
    assert User.objects.get().list_views == {"all-0": "cards"}


def test_visitors_have_layouts_as_well(client):
    source = a_source(listed=True)
    some_postings(2, source)
    assert layout(client.get(reverse("river_source", args=[source.pk]) + "?view=magazine").text) == "magazine"


def test_the_layout_is_kept_on_the_way_down_the_list(client, user):
    some_postings(45, a_follow(user).source)
    page = client.get("/river/?view=cards").text
    assert "view=cards" in page.split('data-more href="')[1].split('"')[0]


@pytest.mark.parametrize("view", ["list", "cards", "magazine"])
def test_pictures_have_their_place_before_they_are_there(client, user, view):
    a_posting(a_follow(user).source, image_url="https://a.example/1.png")
    picture = client.get(f"/river/?view={view}").text.split('<img class="row-image"')[1].split(">")[0]
    assert 'width="112" height="84" loading="lazy"' in picture


def test_preferences_keep_the_layout_and_whether_scrolling_marks(client, user):
    form = {"order": "newest", "images": "proxied", "view": "magazine", "mark_on_scroll": "on"}
    assert client.post(reverse("preferences"), form).status_code == 302
    user.refresh_from_db()
    assert (user.view, user.mark_on_scroll) == ("magazine", True)
    some_postings(1, a_follow(user).source)
    assert f'data-mark-on-scroll="{reverse("seen")}"' in client.get("/river/").text


def test_scrolling_marks_nothing_by_default(client, user):
    some_postings(1, a_follow(user).source)
    assert "data-mark-on-scroll" not in client.get("/river/").text


# --- the text alone ---------------------------------------------------------------------------------------------------
def test_the_text_stands_alone_and_is_read_by_it(client, user):
    posting = a_posting(a_follow(user).source, html="<p>Only this.</p>")
    page = client.get(reverse("posting", args=[posting.pk]) + "?mode=reading").text
    assert "Only this." in page
    assert 'class="sidebar"' not in page
    assert "data-size" in page
    assert Mark.objects.get(user=user).read


def test_type_is_set_as_the_browser_keeps_it(client):
    address = reverse("posting", args=[a_posting().pk]) + "?mode=reading"
    assert 'data-size="2" data-leading="2"' in client.get(address).text
    assert "typesetting" not in client.cookies
    assert 'data-size="5" data-leading="2"' in client.get(f"{address}&size=5").text
    assert 'data-size="5" data-leading="3"' in client.get(f"{address}&leading=3").text
    assert 'data-size="5" data-leading="3"' in client.get(address).text
    client.cookies["typesetting"] = "<script>"
    assert 'data-size="2" data-leading="2"' in client.get(address).text


def test_the_reading_time_is_shown_in_lists_and_above_the_text(client, user):
    follow = a_follow(user)
    long = a_posting(follow.source, text="Ships sailed. " * 600, published_at=timezone.now())
    a_posting(follow.source, text="A teaser.")
    river = client.get("/river/").text
    assert river.count('class="row-minutes"') == 1
    assert "5 min" in river
    assert "5 min read" in client.get(reverse("posting", args=[long.pk])).text


def test_an_article_leads_back_to_the_list_it_was_opened_from(client, user):
    newer, posting = some_postings(2, a_follow(user).source)

    def back_to(address: str, referer: str = "") -> str:
        page = client.get(address, headers={"Referer": referer} if referer else {}).text
        return unescape(re.search(r'data-back href="([^"]+)"', page)[1])

    address, of_feed = reverse("posting", args=[posting.pk]), reverse("river_source", args=[posting.source_id])
    assert back_to(address, "http://testserver/river/?show=unread#posting-1") == "/river/?show=unread"
    for elsewhere in (
        "",
        "https://elsewhere.example/river/",
        "http://testserver/nothing/",
        f"http://testserver{address}",
    ):
        assert back_to(address, elsewhere) == of_feed
    assert back_to(f"{address}?list=https://elsewhere.example/river/") == of_feed
    page = client.get(address, headers={"Referer": "http://testserver/search/?q=a%26b"}).text
    assert unescape(re.search(r'data-previous rel="prev" href="([^"]+)"', page)[1]).startswith(
        f"/posting/{newer.pk}/?list="
    )
    kept = {unescape(each) for each in re.findall(r'name="next" value="(/posting/[^"]+)"', page)}
    assert {back_to(each.partition("#")[0]) for each in kept} == {"/search/?q=a%26b"}
    appearance = {unescape(each) for each in re.findall(r'href="/appearance/[?]next=([^"]+)"', page)}
    assert {back_to(unquote(each)) for each in appearance} == {"/search/?q=a%26b"}


def test_the_text_alone_leads_back_to_the_list_of_its_article(client, user):
    source = a_follow(user).source
    posting = a_posting(source, text="Ships sailed. " * 600)
    a_posting(source)
    address = reverse("posting", args=[posting.pk])
    page = client.get(address, headers={"Referer": "http://testserver/search/?q=a"}).text
    alone = client.get(address + unescape(re.search(r'data-reader href="([^"]+)"', page)[1])).text
    links = re.findall(r'<a class="button" data-(?:up|previous|next)\b[^>]* href="([^"]+)"', alone)
    assert len(links) == 2
    for link in links:
        assert 'data-back href="/search/?q=a"' in client.get(unescape(link).replace("mode=reading", "")).text
