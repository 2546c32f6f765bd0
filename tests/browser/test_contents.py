"""Every kind of content, from the bytes of a feed to the page that shows it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from apps.accounts.models import User
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.formats import parse
from tests.browser.conftest import wait_until
from tests.browser.test_accessibility import faults
from tests.browser.test_images import gif
from tests.browser.test_reading import sign_in, with_and_without_scripts
from tests.builders import NOON, a_follow, a_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FEED = Path(__file__).with_name("contents.xml").read_bytes()
ELSEWHERE = re.compile(r"^https?://(?!localhost[:/])")
FRAME = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1"


@pytest.fixture
def postings() -> dict[str, Posting]:
    source = a_source(listed=True, title="Everything")
    feed = parse(FEED, content_type="application/rss+xml", url="https://everything.example/feed")
    store([Document(source.pk, feed.entries, "https://everything.example/feed", feed.link, "en", NOON)])
    return {posting.guid: posting for posting in source.postings.all()}


@pytest.fixture
def requested(page: Page) -> list[str]:
    """The addresses that the browser requests from other sites; pictures and sounds come from the proxy."""
    addresses: list[str] = []

    def record(route: Route) -> None:
        addresses.append(route.request.url)
        route.fulfill(body="<title>The site's player</title>", content_type="text/html")

    page.context.route(ELSEWHERE, record)
    page.context.route(re.compile("/(?:image|recording)/"), lambda route: route.fulfill(body=gif(3, 2)))
    return addresses


def a_reader(postings: dict[str, Posting]) -> User:
    return a_follow(source=postings["article"].source).user


@with_and_without_scripts
def test_an_article_shows_every_kind_of_content(page: Page, postings, requested):
    page.goto(f"/posting/{postings['article'].pk}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fish & chips")
    text = page.locator(".prose")
    assert text.locator("figure.player .player-title").all_inner_texts() == ["A song", "A walk", "Spotify"]
    song = text.get_by_role("link", name="A song")
    assert song.get_attribute("href") == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    assert song.locator("img").count() == 1
    assert text.locator("math").count() == 3
    assert text.get_by_text("it costs $5 or $6").count() == 1
    assert text.locator("img[alt='\\\\sqrt{2}']").count() == 0, "shown by MathML already"
    assert text.locator("pre .k").all_inner_texts() == ["def", "return"]
    address = text.get_by_role("link", name="https://everything.example/a_(b)")
    assert address.get_attribute("href") == "https://everything.example/a_(b)?page=2"
    sizes = [
        text.locator(f"h{level}").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") for level in range(2, 7)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert requested == []


def test_a_wide_table_scrolls_by_keyboard_and_the_page_does_not(page: Page, postings, requested):
    page.goto(f"/posting/{postings['article'].pk}/")
    region = page.get_by_role("region", name="Table 1")
    region.focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, "document.querySelector('.wide').scrollLeft > 0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_video_plays_in_its_place_and_nothing_is_requested_before(page: Page, postings, requested):
    page.goto(f"/posting/{postings['article'].pk}/")
    card = page.get_by_role("link", name="A song")
    card.scroll_into_view_if_needed()
    assert requested == []
    card.click()
    player = page.frame_locator("figure.player iframe").frame_locator("iframe")
    expect(player.locator("title")).to_have_count(1)
    assert requested == [FRAME]
    expect(page.get_by_role("link", name="A walk")).to_be_visible()


def test_a_posting_about_a_video_shows_its_card_with_its_length(page: Page, postings, requested):
    page.goto(f"/posting/{postings['video'].pk}/")
    card = page.get_by_role("link", name="The mountain").filter(has=page.locator("time"))
    assert card.locator("time").inner_text() == "3:05"
    assert card.locator("img").count() == 1
    assert page.get_by_role("link", name="www.everything.example/mountain").count() == 1


@with_and_without_scripts
def test_lists_begin_with_words_not_with_captions_and_name_untitled_articles(page: Page, postings, requested):
    page.goto(f"/river/source/{postings['article'].source_id}/")
    excerpt = page.locator(f"#posting-{postings['article'].pk} .row-excerpt")
    expect(excerpt).to_have_text(re.compile("^It was a long day at the harbour"))
    untitled = page.locator(f"#posting-{postings['untitled'].pk} .row-title")
    expect(untitled).to_have_text(re.compile("^A note without a title"))
    untitled.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^A note without a title, .*…$"))
    assert page.title().startswith("A note without a title")


def test_an_episode_plays_in_the_list(page: Page, postings, requested):
    sign_in(page, a_reader(postings))
    page.goto("/river/?show=all")
    chip = page.get_by_role("link", name="Listen: Episode 7, 1:02:03")
    expect(chip).to_have_text("1:02:03")
    chip.click()
    player = page.locator("audio[aria-label='Listen: Episode 7, 1:02:03']")
    expect(player).to_be_visible()
    assert "/recording/" in player.evaluate("player => player.src")
    assert requested == []


def test_a_press_before_the_script_of_players_has_come_plays_too(page: Page, postings, requested):
    held: list[Route] = []
    page.route(re.compile(r"/players[.\w]*\.js"), lambda route: held.append(route))
    sign_in(page, a_reader(postings))
    page.goto("/river/?show=all", wait_until="domcontentloaded")
    page.get_by_role("link", name="Listen: Episode 7, 1:02:03").click()
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator("audio[aria-label='Listen: Episode 7, 1:02:03']")).to_be_visible()
    assert page.url.endswith("/river/?show=all")


def test_a_double_click_plays_once(page: Page, postings, requested):
    sign_in(page, a_reader(postings))
    page.goto("/river/?show=all")
    page.evaluate("""() => {
        window.played = [];
        HTMLMediaElement.prototype.play = async function () { window.played.push(this.isConnected); };
    }""")
    page.get_by_role("link", name="Listen: Episode 7, 1:02:03").dblclick()
    wait_until(page, "window.played.length > 0")
    page.wait_for_timeout(200)
    assert page.evaluate("window.played") == [True]


def test_without_the_script_of_players_a_press_follows_its_link(page: Page, postings, requested):
    page.route(
        re.compile(r"/players[.\w]*\.js"),
        lambda route: route.fulfill(body="throw Error('lost')", content_type="text/javascript"),
    )
    sign_in(page, a_reader(postings))
    page.goto("/river/?show=all", wait_until="domcontentloaded")
    page.get_by_role("link", name="Listen: Episode 7, 1:02:03").click()
    page.wait_for_url(re.compile(f"/posting/{postings['episode'].pk}/"))


def test_the_buttons_of_a_row_do_not_lie_below_its_player(page: Page, postings, requested):
    page.set_viewport_size({"width": 1440, "height": 900})
    sign_in(page, a_reader(postings))
    page.goto("/river/?show=all")
    page.get_by_role("link", name="Listen: Episode 7, 1:02:03").click()
    row = page.locator(".row", has=page.locator("audio"))
    row.hover()
    row.locator("[data-star]").click(timeout=5_000)
    expect(row.locator("[data-star]")).to_have_attribute("aria-pressed", "true")


def test_all_of_it_is_accessible(page: Page, postings, requested):
    for guid in ("article", "video", "episode"):
        page.goto(f"/posting/{postings[guid].pk}/")
        assert faults(page) == [], guid
