"""The journeys of people, seen through a browser."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow, Mark
from apps.postings.models import Posting
from apps.sources.models import Source
from tests.browser import everything
from tests.browser.scripts import with_and_without_scripts, without_scripts
from tests.builders import (
    NOON,
    a_follow,
    a_mark,
    a_plan,
    a_posting,
    a_profile,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    some_postings,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sign_in(page: Page, user: User) -> None:
    everything.sign_in(page.context, Client(), user, "http://localhost")  # at every port


@with_and_without_scripts
def test_from_signing_up_to_the_first_posting(page: Page):
    source = a_source(listed=True, title="The Wire")
    posting = some_postings(3, source, newest_at=timezone.now())[0]
    page.goto("/")
    page.get_by_role("main").get_by_role("link", name="Start reading").click()
    page.locator("[name=username]").fill("ada")
    page.locator("[name=password1]").fill("a long password")
    page.locator("[name=password2]").fill("a long password")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Choose feeds from the catalogue").click()
    page.get_by_role("button", name="Follow The Wire").click()
    expect(page.get_by_role("button", name="Follow The Wire")).to_have_count(0)
    page.get_by_role("link", name="Articles", exact=True).click()
    page.get_by_role("link", name=posting.title).click()
    expect(page.locator(".prose").get_by_text("Words of posting")).to_be_visible()
    assert Mark.objects.filter(user__username="ada", posting=posting, read=True).exists()


@with_and_without_scripts
def test_an_address_is_followed(page: Page):
    source = a_source(title="Le Monde")
    sign_in(page, a_user())
    page.goto("/add/")
    page.get_by_label("Address").fill(source.url)
    page.get_by_role("main").get_by_role("button", name="Follow").click()
    expect(page.get_by_role("heading", name="Le Monde")).to_be_visible()
    assert Follow.objects.filter(source=source).exists()


def test_reading_with_the_keyboard(page: Page):
    follow = a_follow()
    newest, second, _ = some_postings(3, follow.source)
    sign_in(page, follow.user)
    page.goto("/river/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    row = page.locator(f"#posting-{second.pk}")
    expect(row).to_have_class(re.compile("is-selected"))

    page.keyboard.press("s")
    expect(row.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    assert Mark.objects.get(posting=second).starred_at

    page.keyboard.press("m")
    expect(page.locator(".sidebar [data-count=all]")).to_have_text("2")

    page.keyboard.press("k")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(f"/posting/{newest.pk}/"))

    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Starred")).to_be_visible()
    expect(page.locator("article")).to_have_count(1)


def test_a_list_is_marked_read_by_keys_and_keys_are_explained(page: Page):
    follow = a_follow()
    some_postings(3, follow.source)
    sign_in(page, follow.user)
    page.goto("/river/")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+A")
    expect(page.locator("[data-unread]")).to_have_count(0)
    assert following.unread_counts(follow.user) == {}


def test_a_long_list_of_sources_scrolls_by_itself_and_stays_where_it_was(page: Page):
    user = a_user()
    for number in range(60):
        a_follow(user, a_source(title=f"Source {number:02}"))
    page.set_viewport_size({"width": 1280, "height": 800})
    sign_in(page, user)
    page.goto("/river/")
    followed = page.get_by_role("navigation", name="Your feeds")
    followed.get_by_role("link", name="Source 50").click()
    expect(page.get_by_role("heading", name="Source 50")).to_be_visible()
    expect(followed.get_by_role("link", name="Source 50")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    page.goto(f"/river/source/{Source.objects.get(title='Source 05').pk}/")
    expect(followed.get_by_role("link", name="Source 05")).to_be_in_viewport()


def test_scrolling_loads_older_postings(page: Page):
    follow = a_follow()
    some_postings(40, follow.source)
    sign_in(page, follow.user)
    page.goto("/river/")
    page.locator("[data-more]").scroll_into_view_if_needed()
    expect(page.locator("article")).to_have_count(40)


@without_scripts
def test_older_postings_are_a_link_without_scripts(page: Page):
    follow = a_follow()
    some_postings(40, follow.source)
    sign_in(page, follow.user)
    page.goto("/river/")
    page.locator("[data-more]").click()
    expect(page.locator("article")).to_have_count(10)


@without_scripts
def test_marks_and_the_drawer_work_without_scripts(page: Page):
    follow = a_follow()
    posting = a_posting(follow.source)
    sign_in(page, follow.user)
    page.goto("/river/")
    page.locator("[data-star]").click()
    expect(page.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Mark all read").click()
    expect(page.locator("[data-unread]")).to_have_count(0)
    assert following.unread_counts(follow.user) == {}
    assert Mark.objects.get(posting=posting).starred_at
    page.locator(".tabs").get_by_text("Feeds").click()
    page.get_by_role("navigation", name="Your feeds").get_by_role("link", name="Starred").click()
    expect(page.locator("article")).to_have_count(1)


HOSTILE = """
<p>Harmless words.</p><script>document.title = "taken"</script><img src="x:y" onerror="document.title = 'taken'">
<svg onload="document.title = 'taken'"></svg><p style="position:fixed">Style.</p><a href="javascript:alert(1)">Link</a>
"""


def test_the_content_security_policy_blocks_scripts_and_styles_of_unsanitized_postings(browser, live_server):
    """Postings are cleaned before they are stored; this one was put there uncleaned, and still nothing of it runs."""
    posting = a_posting(a_source(listed=True), html=HOSTILE, title="<script>document.title = 'taken'</script>")
    context = browser.new_context(base_url=live_server.url)
    page = context.new_page()
    page.goto(f"/posting/{posting.pk}/")
    expect(page.get_by_text("Harmless words.")).to_be_visible()
    assert not page.title().startswith("taken")
    assert page.get_by_text("Style.").evaluate("element => getComputedStyle(element).position") == "static"
    context.close()


PAGES = [
    "/river/",
    "/catalogue/",
    "/add/",
    "/folders/",
    "/opml/",
    "/welcome/",
    "/welcome/news/",
    "/feeds/health/",
    "/preferences/",
    "/accounts/email/",
    "/help/keys/",
    "/sources/",
    "/sources/test/",
    "/plan/",
]


def test_no_page_is_wider_than_the_window(page: Page):
    source = a_source(
        listed=True, title="A name without any space in it " + "x" * 120, url="https://a.example/" + "y" * 300
    )
    user = a_user(is_staff=True)
    a_follow(user, source)
    EmailAddress.objects.create(user=user, email=f"{'e' * 60}@example.org", primary=True)
    posting = a_posting(
        source, title="z" * 200, text="w" * 300, html=f"<p>{'v' * 300}</p><table><tr><td>{'u' * 300}</table>"
    )
    a_mark(user, posting, read=False)
    a_retrieval(source, message="t" * 300)
    a_schedule(source)
    a_profile(source)
    a_plan(curve=[[100.0, 3.0], [400.0, 0.8]])
    sign_in(page, user)
    for address in [
        *PAGES,
        f"/posting/{Posting.objects.get().pk}/",
        f"/sources/{source.pk}/",
        f"/sources/{source.pk}/plan/",
        f"/river/source/{source.pk}/",
    ]:
        page.goto(address)
        for width in (320, 390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overflow <= 0, (address, width)


def test_nothing_moves_while_pictures_load(page: Page):
    follow = a_follow()
    for minute in range(3):
        a_posting(follow.source, image_url=f"/static/icon.svg?{minute}", published_at=NOON)
    sign_in(page, follow.user)
    page.goto("/river/")
    box = page.locator(".row-image").first.bounding_box()
    assert (box["width"], box["height"]) == (72, 64)
