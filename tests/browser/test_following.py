"""Journeys of people who follow: from signing up to the first article, a list from another reader, an order by hand."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow, Mark
from apps.postings.models import Posting
from lab.worlds.feed import make_feed
from tests.browser.scripts import WITHOUT, with_and_without_scripts
from tests.browser.test_reading import sign_in
from tests.builders import a_folder, a_follow, a_source, a_user, some_postings
from tests.journeys.conftest import Portal
from tests.web import replaying

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TABLET = {"width": 820, "height": 900}


class Clicks:
    """Counts them."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, place) -> None:
        self.count += 1
        place.click()


@with_and_without_scripts
def test_from_signing_up_to_the_first_article_it_takes_six_clicks_or_fewer(page: Page):
    source = a_source(listed=True, category="Technology", language="en", title="The Wire")
    a_source(listed=True, category="Sport", language="en")
    posting = some_postings(3, source, newest_at=timezone.now())[0]
    clicks, main = Clicks(), page.get_by_role("main")
    page.goto("/")
    expect(main.get_by_role("link", name=posting.title).first).to_be_visible()  # news at once

    clicks.on(main.get_by_role("link", name="Start reading"))
    page.locator("[name=username]").fill("ada")
    page.locator("[name=password1]").fill("a long password")
    page.locator("[name=password2]").fill("a long password")
    clicks.on(main.get_by_role("button", name="Sign up"))
    clicks.on(main.get_by_label("Technology"))
    clicks.on(main.get_by_role("button", name="Start reading"))
    clicks.on(main.get_by_role("link", name=posting.title))
    expect(page.locator(".prose").get_by_text("Words of posting")).to_be_visible()
    assert clicks.count <= 6
    assert Mark.objects.filter(user__username="ada", posting=posting, read=True).exists()
    zone = page.evaluate("typeof htmx === 'undefined' ? '' : Intl.DateTimeFormat().resolvedOptions().timeZone")
    assert User.objects.get(username="ada").time_zone == zone


def run_a_worker() -> None:
    """Fetch and store all due sources, in another thread, since this one is the browser's."""
    portal = Portal(timezone.now())
    try:
        portal.adopt()
        portal.run(timedelta(seconds=1))
    finally:
        portal.close()
        connection.close()


def a_list_in_folders(addresses: Sequence[str]) -> bytes:
    """Of OPML, thirty sources to a folder."""
    outlines = [f'<outline type="rss" text="Source {n}" xmlUrl="{address}"/>' for n, address in enumerate(addresses)]
    places = range(0, len(outlines), 30)
    folders = [f'<outline text="Folder {at}">{"".join(outlines[at : at + 30])}</outline>' for at in places]
    return f'<opml version="2.0"><body>{"".join(folders)}</body></opml>'.encode()


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("with scripts", 45),
        pytest.param("with scripts", 90, marks=pytest.mark.trial),
        pytest.param(WITHOUT, 60, marks=pytest.mark.trial),
    ],
    indirect=["page"],
)
def test_a_long_list_is_imported_and_the_river_is_filled_by_what_it_publishes(page: Page, settings, count: int):
    settings.RETRIEVAL_HOST_GAP = 0
    user, begin = a_user(images="blocked"), timezone.now() - timedelta(hours=1)
    feeds = [make_feed(number, [(begin, f"News of {number}")], title=f"Paper {number}") for number in range(count)]
    sign_in(page, user)
    with replaying(feeds) as replay, ThreadPoolExecutor(1) as worker:
        document = a_list_in_folders([replay.feed_url(number) for number in range(count)])
        file = {"name": "list.opml", "mimeType": "text/xml", "buffer": document}
        page.goto("/opml/")
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text(f"{count} newly followed")).to_be_visible()
        page.get_by_role("main").get_by_role("link", name="Read", exact=True).click()
        expect(page.get_by_text(f"0 of {count} feeds have been checked")).to_be_visible()
        worker.submit(run_a_worker).result()
    if page.evaluate("typeof htmx !== 'undefined'") is not True:
        page.get_by_role("link", name="Show new articles").click()
    expect(page.get_by_text(f"All {count} feeds that you follow have been checked.")).to_be_visible()
    expect(page.locator("article")).to_have_count(40)
    assert Posting.objects.count() == Follow.objects.filter(user=user).count() == count
    assert sum(following.unread_counts(user).values()) == count


@with_and_without_scripts
def test_a_source_is_followed_filed_and_chosen_for(page: Page):
    source = a_source(listed=True, title="The Wire")
    user = a_user()
    a_folder(user, "News")
    sign_in(page, user)
    page.goto("/catalogue/")
    page.get_by_role("button", name="Follow The Wire").click()
    page.get_by_role("link", name="Following The Wire").click()
    page.get_by_role("checkbox", name="News").check()
    page.get_by_label("Layout").select_option("cards")
    page.get_by_label("Mute").check()
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile(f"/river/source/{source.pk}/"))
    expect(page.get_by_text("It is muted")).to_be_visible()
    follow = Follow.objects.get(user=user)
    assert (follow.view, follow.muted, follow.folders.get().name) == ("cards", True, "News")


def three_followed(user: User) -> list[int]:
    return [a_follow(user, a_source(title=title)).source_id for title in ("Alpha", "Beta", "Gamma")]


def order_of(user: User) -> list[int]:
    return [each.source_id for each in following.followed_sources(user)]


@with_and_without_scripts
def test_sources_are_sorted_by_buttons(page: Page):
    user = a_user()
    alpha, beta, gamma = three_followed(user)
    sign_in(page, user)
    page.set_viewport_size(TABLET)  # on a phone there is room for two of the four buttons
    page.goto("/folders/")
    page.get_by_role("button", name="Gamma: first").click()
    expect(page.locator("[data-item]").first).to_have_attribute("data-item", f"source-{gamma}")
    page.get_by_role("button", name="Alpha: down").click()
    expect(page.locator("[data-item]").last).to_have_attribute("data-item", f"source-{alpha}")
    assert order_of(user) == [gamma, beta, alpha]


def centre(page: Page, item: str) -> tuple[float, float]:
    box = page.locator(f"[data-item={item}] [data-handle]").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_sources_are_sorted_and_filed_by_dragging(page: Page):
    user = a_user()
    folder = a_folder(user, "News")
    alpha, beta, gamma = three_followed(user)
    sign_in(page, user)
    page.goto("/folders/")
    expect(page.locator(".is-arranging")).to_be_visible()

    def drag(item: str, onto: str, by: float) -> None:
        page.mouse.move(*centre(page, item))
        page.mouse.down()
        x, y = centre(page, onto)
        page.mouse.move(x + 40, y + by, steps=5)
        with page.expect_response("**/folders/arrange/") as answer:
            page.mouse.up()
        assert answer.value.status == 204

    drag(f"source-{gamma}", f"source-{alpha}", -6)
    assert order_of(user) == [gamma, alpha, beta]
    drag(f"source-{beta}", f"folder-{folder.pk}", 0)
    assert list(Follow.objects.get(source=beta).folders.all()) == [folder]
    expect(page.locator(f"[data-list=folder-{folder.pk}] > li")).to_have_count(1)
    # What was dragged can be moved by its buttons from where it lies now.
    page.get_by_role("button", name="Beta: up").click()
    expect(page).to_have_url(re.compile(f"#source-{beta}-{folder.pk}"))


def test_sources_are_sorted_by_finger(page: Page):
    user = a_user()
    alpha, beta, gamma = three_followed(user)
    sign_in(page, user)
    page.goto("/folders/")
    expect(page.locator(".is-arranging")).to_be_visible()
    touch = page.context.new_cdp_session(page)
    (x, y), (_, top) = centre(page, f"source-{gamma}"), centre(page, f"source-{alpha}")
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 6):
        point = {"x": x + 40, "y": y + (top - 6 - y) * step / 5}
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    with page.expect_response("**/folders/arrange/"):
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert order_of(user) == [gamma, alpha, beta]


def test_a_name_that_is_cut_off_is_shown_whole_under_the_pointer(page: Page):
    user, names = a_user("ada"), ("The Melbourne Courier and Advertiser of the South", "Short")
    for name in names:
        a_follow(user, a_source(title=name))
    sign_in(page, user)
    page.set_viewport_size(TABLET)
    page.goto("/river/")
    long, short = (page.locator(".sidebar-name", has_text=name) for name in names)
    long.hover()
    expect(long).to_have_attribute("title", names[0])
    short.hover()
    expect(short).not_to_have_attribute("title", re.compile(""))


def test_folders_name_their_feeds_in_full_on_a_phone(page: Page):
    follow = a_follow(source=a_source(title="The Melbourne Courier and Advertiser of the South"))
    sign_in(page, follow.user)
    page.goto("/folders/")
    name = page.locator(".arranged-name")
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")
    expect(page.locator(".steps-buttons button:visible")).to_have_count(2)
