"""Searching, seen through a browser."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlparse

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.search.actions.reindexing import consume
from apps.sources.models import Source
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_follow, a_posting, a_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (390, 1280)
FILLER = "Some more words that say nothing in particular. " * 5


@pytest.fixture(autouse=True)
def news() -> None:
    """Thirty postings, each a day older than the one before; those of summits speak of emissions."""
    wire = a_source(listed=True, title="The Wire", category="World")
    herald = a_source(listed=True, title="Herald", category="Sport", language="en")
    now = timezone.now()
    for number in range(30):
        is_summit = number % 2 == 0
        a_posting(
            wire if is_summit else herald,
            title=f"Paris {'summit' if is_summit else 'match'} {number}",
            text=f"{FILLER}{'Delegations argued about emissions.' if is_summit else 'The striker scored.'} {FILLER}",
            language="en",
            published_at=now - timedelta(days=number, minutes=5),
        )
    consume()


def search(page: Page, text: str) -> None:
    page.get_by_role("searchbox").fill(text)
    page.get_by_role("searchbox").press("Enter")


def rows(page: Page):
    return page.locator("[data-posting]")


@with_and_without_scripts
def test_from_a_word_to_a_filtered_order(page: Page):
    page.goto("/search/")
    search(page, "paris summit")
    expect(page.get_by_role("status")).to_contain_text(re.compile("results|matches"))
    expect(rows(page).first.locator("mark").first).to_have_text("Paris")
    page.get_by_role("link", name="Newest").click()
    expect(rows(page)).to_have_count(15)
    expect(rows(page).first).to_contain_text("Paris summit 0")
    page.get_by_title("Feeds", exact=True).click()
    page.get_by_role("link", name="The Wire 15").click()
    expect(page.get_by_role("searchbox")).to_have_value('paris summit source:"The Wire"')
    expect(rows(page)).to_have_count(15)
    page.get_by_role("link", name='Remove filter source:"The Wire"').click()
    expect(page.get_by_role("searchbox")).to_have_value("paris summit")


def test_results_come_while_one_writes(page: Page):
    page.goto("/search/")
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    box.press_sequentially("striker")
    expect(rows(page).first).to_contain_text("Paris match")
    expect(page.get_by_role("status")).to_contain_text(re.compile("results|matches"))
    assert parse_qs(urlparse(page.url).query) == {"q": ["striker"]}
    box.press_sequentially(" (")
    expect(page.get_by_role("status")).to_contain_text("The parenthesis at character 9 is not closed")
    expect(page.locator(".search-piece mark")).to_have_text("(")
    box.fill("striker")
    expect(rows(page).first).to_be_visible()
    expect(box).to_be_focused()


def test_going_back_shows_the_whole_page(page: Page):
    page.goto("/search/")
    page.get_by_role("searchbox").press_sequentially("striker")
    rows(page).first.get_by_role("link", name="Paris match").first.click()
    expect(page.locator("[data-whole]")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("striker")
    expect(rows(page).first).to_contain_text("Paris match")


def test_more_results_come_at_the_end(page: Page):
    page.goto("/search/?q=paris&order=newest")
    expect(rows(page)).to_have_count(20)
    page.locator("[data-more]").scroll_into_view_if_needed()
    expect(rows(page)).to_have_count(30)


def geneva_talks():
    """Articles with a word that is added to a search for Geneva."""
    for number in range(3):  # few of all: the word is rare
        a_posting(Source.objects.get(title="Herald"), title=f"Geneva talks {number}", text="Delegations left treaties.")
    consume()


@with_and_without_scripts
def test_added_words_are_shown_and_left_out(page: Page):
    geneva_talks()
    page.goto("/search/?q=geneva")
    added = page.get_by_role("region", name="Related terms")
    expect(added.get_by_role("link", name="Remove treaties")).to_be_visible()
    added.get_by_title("Where they come from").click()
    expect(added.get_by_role("row", name="treaties").locator(".origins a").first).to_contain_text("Geneva talks")
    added.get_by_role("link", name="Remove treaties").first.click()
    expect(page.get_by_role("link", name="Remove treaties")).to_have_count(0)
    page.get_by_role("link", name="Only my words").click()
    expect(page.get_by_text("Only your words are searched")).to_be_visible()


@with_and_without_scripts
def test_a_verdict_changes_the_order(page: Page):
    page.goto("/search/?q=paris")
    liked = page.locator("[data-posting]", has_text="Paris match 5")
    liked.get_by_role("link", name="More like this").click()
    expect(page.get_by_text("more like 1 article")).to_be_visible()
    expect(rows(page).first).to_contain_text("Paris match 5")
    page.get_by_role("link", name="Reset").click()
    expect(page.get_by_text("more like 1 article")).to_have_count(0)


@pytest.fixture
def person(page: Page, client, live_server):
    """A signed-in user who follows the wire."""
    user = a_follow(source=Source.objects.get(title="The Wire")).user
    client.force_login(user)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    return user


def test_related_terms_and_menus_can_be_used_by_keyboard(page: Page, person):
    geneva_talks()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/search/?q=geneva")
    menu = page.get_by_title("Save search")
    menu.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    for width in (330, 390):  # a chip is cut at the edge of the first
        page.set_viewport_size({"width": width, "height": 844})
        page.reload()
        expect(page.get_by_role("link", name="Only my words")).to_be_in_viewport(ratio=1)
        page.get_by_title("More").focus()
        for end in page.locator(".chips .chip-end").all():
            page.keyboard.press("Tab")
            expect(end).to_be_focused()
            box, shown = end.bounding_box(), page.locator(".added .chips").bounding_box()
            assert shown["x"] <= box["x"]
            assert box["x"] + box["width"] <= shown["x"] + shown["width"]


@pytest.mark.parametrize(("width", "highest"), [(1440, 110), (820, 110), (390, 130)])
def test_results_begin_near_the_top(page: Page, person, width, highest):
    geneva_talks()
    page.set_viewport_size({"width": width, "height": 900})
    for words, shown in (("", "Remove treaties"), ("&words=mine", "Add related terms")):
        page.goto(f"/search/?q=geneva{words}")
        expect(page.get_by_role("link", name=shown)).to_be_visible()
        assert rows(page).first.bounding_box()["y"] <= highest


@with_and_without_scripts
def test_a_search_is_kept_renamed_and_forgotten(page: Page, person):
    page.goto("/search/?q=paris+summit")
    page.get_by_title("Save search").click()
    page.get_by_label("Name", exact=True).fill("Summits")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Search saved.")).to_be_visible()
    page.goto("/search/saved/")
    page.get_by_text("Change Summits").click()
    page.get_by_label("Name", exact=True).fill("All summits")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="All summits")).to_be_visible()
    feed = page.request.get(page.get_by_role("link", name="RSS").get_attribute("href"))
    assert "<title>Paris summit 0</title>" in feed.text()
    page.get_by_text("Change All summits").click()
    page.get_by_role("button", name="Delete search").click()
    expect(page.get_by_text("No saved searches yet.")).to_be_visible()


@with_and_without_scripts
def test_a_list_is_filtered(page: Page, person):
    page.goto("/river/?show=all")
    page.get_by_title("Filter this list").click()
    box = page.get_by_role("searchbox", name="Filter this list")
    box.fill("summit 8")
    box.press("Enter")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("searchbox", name="Filter this list").fill("xyzzy")
    page.get_by_role("searchbox", name="Filter this list").press("Enter")
    page.get_by_role("link", name="search everywhere").click()
    expect(page.get_by_role("searchbox")).to_have_value("xyzzy")


def test_search_is_one_key_away(page: Page, person):
    page.goto("/river/")
    page.keyboard.press("/")
    expect(page).to_have_url(re.compile("/search/$"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/river/")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search all articles")).to_be_focused()
    page.keyboard.type("striker")
    page.keyboard.press("Enter")
    expect(rows(page).first).to_contain_text("Paris match")
    page.goto("/catalogue/")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search feeds")).to_be_focused()


@pytest.mark.parametrize("width", WIDTHS)
def test_menus_fit_their_window(page: Page, person, width: int):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/search/?q=paris")
    for menu in page.locator("details.facet").all():
        menu.locator("summary").click()
        box = menu.locator(".menu-items").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
