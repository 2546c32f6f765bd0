"""Articles beside and in place of their list, with a mouse, with keys and with a finger."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from apps.following.models import Mark
from apps.postings.models import Posting
from tests.apps.reading.recordings_server import Publisher, publishing
from tests.browser import everything
from tests.browser.conftest import wait_until
from tests.browser.scripts import with_and_without_scripts
from tests.browser.test_reading import sign_in
from tests.builders import a_folder, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DESKTOP, TABLET, PHONE = ({"width": width, "height": 900} for width in (1440, 820, 390))
LIST = "document.querySelector('.page')"


def a_list(page: Page, number: int = 40) -> list[Posting]:
    follow = a_follow()
    sign_in(page, follow.user)
    return some_postings(number, follow.source, newest_at=timezone.now() - timedelta(hours=1))


def open_row(page: Page, posting: Posting) -> None:
    page.locator(f"#title-{posting.pk}").click()
    expect(page.locator("#pane").get_by_role("heading", level=1)).to_have_text(posting.title)


def test_an_article_opens_beside_its_list_which_stays_as_it_is(page: Page):
    postings = a_list(page)
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    page.evaluate(f"{LIST}.scrollTop = 400; {LIST}.dataset.known = 'yes'")
    open_row(page, postings[9])
    open_row(page, postings[8])
    expect(page).to_have_url(re.compile(f"/posting/{postings[8].pk}/$"))
    expect(page).to_have_title(re.compile(postings[8].title))
    expect(page.locator("[data-heading]")).to_be_focused()
    expect(page.locator("[data-announcer]")).to_have_text(postings[8].title)
    expect(page.locator("[data-unread]")).to_have_count(28)  # of the thirty that are shown
    expect(page.locator(".bar-count")).to_have_text("38 unread")
    expect(page.locator(".sidebar [data-count=all]")).to_have_text("38")
    page.go_back()
    expect(page.locator("[data-heading]")).to_have_text(postings[9].title)
    page.go_back()
    expect(page.locator("[data-heading]")).to_have_count(0)
    expect(page).to_have_title(re.compile("All articles"))
    page.go_forward()
    expect(page.locator("[data-heading]")).to_have_text(postings[9].title)
    expect(page.locator(f"#posting-{postings[9].pk}")).to_have_class(re.compile("is-selected"))
    assert page.evaluate(f"[{LIST}.scrollTop, {LIST}.dataset.known]") == [400, "yes"]
    page.keyboard.press("j")
    expect(page.locator("[data-heading]")).to_have_text(postings[10].title)
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile("/river/$"))
    expect(page.locator("#pane")).to_contain_text("Choose an article")
    page.go_forward()
    page.reload()
    expect(page.locator(".page [data-heading]")).to_have_text(postings[9].title)  # a page of its own


def test_a_mark_shows_in_the_row_and_in_the_pane(page: Page):
    posting = a_list(page, 2)[0]
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    open_row(page, posting)
    row, pane = page.locator(f"#tools-{posting.pk}"), page.locator(f"#tools-pane-{posting.pk}")
    pane.locator("[data-star]").click()
    expect(row.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    row.locator("[data-read]").click()
    expect(pane).to_have_attribute("data-unread", "")
    pane.locator("[data-read]").click()
    expect(row).not_to_have_attribute("data-unread", "")


@pytest.mark.parametrize("window", [TABLET, PHONE])
def test_an_article_opens_in_place_and_the_list_comes_back_where_it_was(page: Page, window):
    postings = a_list(page)
    page.set_viewport_size(window)
    page.goto("/river/")
    page.evaluate("scrollTo(0, 700)")
    open_row(page, postings[12])
    expect(page.locator(".page")).to_be_hidden()
    assert page.evaluate("scrollY") == 0
    page.locator("[data-back]").click()
    expect(page).to_have_url(re.compile("/river/$"))
    expect(page.locator(f"#title-{postings[12].pk}")).to_be_focused()
    assert page.evaluate("scrollY") == 700
    open_row(page, postings[12])
    page.go_back()
    expect(page.locator(".page")).to_be_visible()
    assert page.evaluate("scrollY") == 700


def test_back_while_another_article_loads_leads_to_the_list(page: Page):
    first, second = a_list(page, 2)
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    open_row(page, first)
    held = []
    page.route(f"**/posting/{second.pk}/", lambda route: held.append(route))
    page.locator(f"#title-{second.pk}").click()
    while not held:
        page.wait_for_timeout(20)
    page.go_back()
    expect(page.locator("[data-heading]")).to_have_count(0)
    with page.expect_response(f"**/posting/{second.pk}/"):
        held[0].continue_()
    expect(page.locator(f"#tools-{second.pk}")).not_to_have_attribute("data-unread", "")  # it came, and was read
    expect(page.locator("[data-heading]")).to_have_count(0)
    expect(page).to_have_url(re.compile("/river/$"))


def test_a_mark_after_the_session_has_ended_leads_to_sign_in(page: Page):
    posting = a_list(page, 2)[0]
    page.goto("/river/")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.locator(f"#posting-{posting.pk}").hover()
    page.locator(f"#tools-{posting.pk} [data-star]").click()
    expect(page).to_have_url(re.compile(r"/accounts/login/\?next=/river/$"))


@pytest.mark.parametrize("window", [DESKTOP, TABLET])
def test_the_buttons_of_a_row_cover_no_link(page: Page, window):
    user = a_user()
    sources = [a_source(title=f"The very long name of a newspaper, number {number}") for number in (1, 2)]
    for source in sources:
        a_follow(user, source)
    first, second = (a_posting(source, title="Storm") for source in sources)
    Posting.objects.filter(pk__in=[first.pk, second.pk]).update(first_copy=first.pk)
    sign_in(page, user)
    page.set_viewport_size(window)
    page.goto("/river/")
    page.locator(".row").hover()
    page.locator(".row").get_by_text("+1 feed").click()
    expect(page).to_have_url(re.compile(f"/posting/{first.pk}/#also$"))


@pytest.mark.parametrize("title", ["Storm", "Words of a title " * 9], ids=["short", "long"])
def test_a_press_on_the_middle_of_a_title_beside_a_picture_opens_it(page: Page, title):
    follow = a_follow()
    sign_in(page, follow.user)
    a_posting(follow.source, title=title, image_url="/static/icon.svg", url="https://news.example/1")
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto("/river/?view=list")
    page.locator(".row").hover()
    page.locator(".row-title").click()
    expect(page.locator("[data-heading]")).to_be_visible()


@pytest.mark.parametrize(("view", "highest", "fewest"), [("compact", 32, 24), ("list", 80, 11)])
def test_rows_and_bars_are_low(page: Page, view, highest, fewest):
    follow = a_follow()
    sign_in(page, follow.user)
    for number in range(30):
        at = timezone.now() - timedelta(minutes=number + 1)
        a_posting(follow.source, title="Words of a title " * 9, image_url="/static/icon.svg", published_at=at)
    page.set_viewport_size(DESKTOP)
    page.goto(f"/river/?view={view}")
    boxes = [row.bounding_box() for row in page.locator(".row").all()]
    assert max(box["height"] for box in boxes) <= highest
    assert sum(box["y"] + box["height"] <= 900 for box in boxes) >= fewest
    assert boxes[0]["y"] <= 110
    expect(page.locator(".row time, .row .row-time").first).to_be_visible()
    page.locator(".row [data-open]").first.click()
    expect(page.locator(".article-bar")).to_be_visible()
    assert {bar.bounding_box()["height"] for bar in page.locator(".bar").all()} == {48}
    page.goto("/for-you/")
    assert page.locator(".row").first.bounding_box()["y"] <= 110
    page.set_viewport_size(PHONE)
    for place in ("/river/", "/for-you/"):
        page.goto(place)
        assert page.locator(".row").first.bounding_box()["y"] <= 130


def test_a_list_keeps_its_place_when_it_or_an_article_is_reloaded(page: Page):
    postings = a_list(page)
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    page.evaluate(f"{LIST}.scrollTop = 600")
    wait_until(page, "history.state?.top === 600")
    page.reload()
    assert page.evaluate(f"{LIST}.scrollTop") == 600
    open_row(page, postings[15])
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(postings[15].title)
    assert page.evaluate(f"{LIST}.scrollTop") == 0
    page.go_back()
    expect(page.locator(f"#title-{postings[15].pk}")).to_be_visible()
    wait_until(page, f"{LIST}.scrollTop === 600")


def test_twenty_articles_of_three_feeds_are_read_with_keys(page: Page):
    user = a_user()
    folder = a_folder(user, "Papers")
    for number, (title, postings) in enumerate((("Bee", 7), ("Cat", 6), ("Ant", 7))):
        source = a_source(title=title)
        a_follow(user, source, folders=(folder,) if number else ())
        some_postings(postings, source, newest_at=timezone.now() - timedelta(hours=number + 1))
    sign_in(page, user)
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    page.keyboard.press("Shift+N")
    expect(page.get_by_role("heading", name="Papers")).to_be_visible()
    for feed, key in (("Ant", "j"), ("Cat", "n"), ("Bee", "Space")):
        page.keyboard.press("Shift+J")
        expect(page.get_by_role("heading", name=feed)).to_be_visible()
        for at in range(page.locator(".row").count()):
            page.keyboard.press(key if at else "j")
            page.keyboard.press("o")
            title = page.locator(".row .row-title").nth(at).inner_text()
            expect(page.locator("[data-heading]")).to_have_text(title)
    expect(page.locator(".sidebar [data-count=all]")).to_have_text("")
    assert Mark.objects.filter(user=user, read=True).count() == 20
    page.keyboard.press("Shift+K")
    expect(page.get_by_role("heading", name="Cat")).to_be_visible()


def test_space_pages_through_an_article_and_x_reads_it_in_the_list(page: Page):
    source = a_follow().source
    sign_in(page, source.follows.get().user)
    at = timezone.now()
    long = a_posting(source, title="Long", html="<p>Words.</p>" * 60, published_at=at)
    a_posting(source, title="Short", html="<p>The end.</p>", published_at=at - timedelta(hours=1))
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator(f"#posting-{long.pk} .prose")).to_be_visible()
    expect(page.locator(f"#tools-{long.pk}")).not_to_have_attribute("data-unread", "")
    page.keyboard.press("x")
    expect(page.locator(f"#posting-{long.pk} .prose")).to_have_count(0)
    page.keyboard.press("o")
    expect(page.locator("[data-heading]")).to_have_text("Long")
    page.keyboard.press("Space")
    wait_until(page, "document.getElementById('pane').scrollTop > 300")
    expect(page.locator("[data-heading]")).to_have_text("Long")
    page.evaluate("document.getElementById('pane').scrollTop = 99999")
    page.keyboard.press("Space")
    expect(page.locator("[data-heading]")).to_have_text("Short")


def test_a_phone_is_used_with_a_finger(browser: Browser, client, live_server):
    follow = a_follow(source=a_source(title="The Wire"))
    posting = some_postings(3, follow.source, newest_at=timezone.now() - timedelta(hours=1))[1]
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, has_touch=True, is_mobile=True, service_workers="block"
    )
    everything.sign_in(context, client, follow.user, live_server.url)
    page = context.new_page()
    page.goto("/river/")
    page.locator(".tabs").get_by_text("Feeds").tap()
    page.get_by_role("navigation", name="Your feeds").get_by_role("link", name="The Wire").tap()
    expect(page.get_by_role("heading", name="The Wire")).to_be_visible()
    page.locator(f"#title-{posting.pk}").tap()
    expect(page.locator("#pane [data-heading]")).to_have_text(posting.title)
    page.locator("#pane [data-star]").tap()
    expect(page.locator("#pane [data-star]")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-back]").tap()
    page.locator(f"#posting-{posting.pk} [data-menu]").tap()
    expect(page.get_by_role("link", name="Read here")).to_be_visible()
    assert not page.evaluate("document.activeElement.matches('input')")  # whose keyboard would cover the menu
    page.get_by_role("link", name="Read here").tap()
    expect(page.locator(f"#posting-{posting.pk} .prose")).to_be_visible()
    page.get_by_role("link", name="Articles", exact=True).tap()
    expect(page.get_by_role("heading", name="All articles")).to_be_visible()
    page.get_by_role("button", name="You", exact=True).tap()
    page.get_by_role("link", name="History").tap()
    expect(page.get_by_role("link", name=posting.title)).to_be_visible()
    page.locator(".tabs").get_by_role("link", name="Search").tap()
    expect(page.get_by_role("main").get_by_role("searchbox")).to_be_visible()
    context.close()


@pytest.fixture
def publisher(settings) -> Iterator[Publisher]:
    settings.RETRIEVAL_OPEN_HOSTS = ["media.localhost"]
    text = "".join(
        f"<p>The {number}. ship left the harbour before noon, with a cargo of gravel.</p>" for number in range(40)
    )
    page = f"<html><head><title>Ships</title></head><body><article><h1>Ships</h1>{text}</article></body></html>"
    with publishing({"/ships": ("text/html", page.encode())}) as server:
        yield server


@with_and_without_scripts
def test_reader_view_fetches_the_text_of_a_teaser(page: Page, publisher: Publisher):
    source = a_follow().source
    sign_in(page, source.follows.get().user)
    teaser = {"title": "Ships", "text": "Ships left. Read more", "html": "<p>Ships left. Read more</p>"}
    a_posting(source, url=publisher.address("/ships"), **teaser)
    page.goto("/river/")
    page.get_by_role("link", name="Ships").click()
    page.get_by_role("button", name="Reader view").click()
    expect(page.locator(".prose").get_by_text("The 39. ship left")).to_be_visible()
    expect(page.get_by_role("button", name="Reader view")).to_have_count(0)
    a_posting(source, url=publisher.address("/gone"), **teaser | {"title": "Gone"})
    page.goto("/river/")
    page.get_by_role("link", name="Gone").click()
    page.get_by_role("button", name="Reader view").click()
    expect(page.get_by_text("could not be found on the article's page")).to_be_visible()


def test_an_article_alone_is_in_the_middle(page: Page):
    posting = a_list(page, 2)[0]
    Posting.objects.update(text="Some words. " * 500, html=f"<p>{'Some words. ' * 500}</p>")  # no teaser
    page.set_viewport_size(DESKTOP)
    page.goto("/river/")
    open_row(page, posting)
    page.locator("#pane a[data-reader]").click()
    expect(page.locator(".sidebar")).to_be_hidden()
    box = page.locator("#pane .prose").bounding_box()
    assert box
    assert box["x"] + box["width"] / 2 == pytest.approx(DESKTOP["width"] / 2, abs=10)


@pytest.mark.parametrize("window", [DESKTOP, PHONE])
def test_what_a_key_says_is_seen_with_an_article(page: Page, window):
    posting = a_list(page, 2)[0]
    page.set_viewport_size(window)
    page.goto("/river/")
    open_row(page, posting)
    page.evaluate(
        "import(new URL('rows.js', document.querySelector('script[src*=main]').src)).then(m => m.show('Hello'))"
    )
    expect(page.get_by_text("Hello")).to_be_visible()


COVERED = """sidebar => {
    const covered = sidebar.querySelector(".sidebar-top").getBoundingClientRect().bottom;
    return [...sidebar.querySelectorAll("#sidebar-feeds a, #sidebar-feeds button")].filter((target) => {
        const { top, bottom } = target.getBoundingClientRect();
        return top + 1 < covered && bottom > covered + 1;
    }).map((target) => target.textContent);
}"""


@pytest.mark.parametrize(("position", "height"), [(12, 620), (17, 620), (22, 620), (29, 620), (8, 250)])
def test_the_head_of_the_sidebar_covers_rows_wholly_or_not_at_all(page: Page, position, height):
    user = a_user()
    sources = [a_follow(user, source=a_source(title=f"Feed {number:02}")).source for number in range(30)]
    sign_in(page, user)
    page.set_viewport_size({"width": 1350, "height": height})
    page.goto(f"/river/source/{sources[position].pk}/")
    expect(page.locator(".sidebar [aria-current]")).to_be_in_viewport()
    assert page.locator(".sidebar").evaluate(COVERED) == []
    bottom = "element => element.getBoundingClientRect().bottom"
    head, current = (page.locator(f".sidebar {part}").evaluate(bottom) for part in (".sidebar-top", "[aria-current]"))
    assert current > head + 20


def test_a_broken_picture_leaves_no_place(page: Page):
    source = a_follow().source
    sign_in(page, source.follows.get().user)
    a_posting(source, image_url="/static/nothing.png", title="Broken")
    page.route("**/nothing.png", lambda route: route.fulfill(body=b"no picture", content_type="image/png"))
    page.goto("/river/")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row-image")).to_have_count(0)
    expect(page.locator(".has-image")).to_have_count(0)


def test_the_rail_stays_closed_and_type_is_chosen(page: Page):
    posting = a_list(page, 2)[0]
    page.set_viewport_size(DESKTOP)
    page.goto(f"/posting/{posting.pk}/")
    page.get_by_text("About this article").click()
    expect(page.locator("#note")).to_be_hidden()
    page.goto("/river/")
    open_row(page, posting)
    expect(page.locator("#note")).to_be_hidden()
    page.keyboard.press("t")  # opens it
    expect(page.get_by_label("Add a tag")).to_be_focused()
    page.goto("/appearance/")
    for label in ("Sans serif", "Wide", "Relaxed"):
        page.get_by_label(label).check()
    page.get_by_role("group", name="Text size").get_by_label("Larger").check()
    page.get_by_role("button", name="Save").click()
    page.goto(f"/posting/{posting.pk}/")
    style = "text => { const {fontFamily, fontSize, lineHeight} = getComputedStyle(text);"
    style += " return [fontFamily.startsWith('system-ui'), fontSize, parseFloat(lineHeight) / parseFloat(fontSize)] }"
    assert page.locator(".prose").evaluate(style) == [True, "24.8px", 2]
