"""A reader has a feed checked and sees what is new, and arranges the feeds of the sidebar."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.following.models import Folder
from lab.worlds.feed import make_feed
from tests.browser.test_following import run_a_worker, with_and_without_scripts
from tests.browser.test_reading import sign_in
from tests.builders import a_folder, a_follow, a_schedule, a_source, a_user, some_postings
from tests.web import replaying

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDE = {"width": 1280, "height": 900}


def has_scripts(page: Page) -> bool:
    return page.evaluate("typeof htmx !== 'undefined'") is True


@with_and_without_scripts
def test_a_feed_is_refreshed_and_its_news_shown(page: Page, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    user, now = a_user(images="blocked"), timezone.now()
    page.set_viewport_size(WIDE)
    with replaying([make_feed(1, [(now - timedelta(minutes=9), "A headline")])]) as replay:
        source = a_source(url=replay.feed_url(1))
        a_schedule(source, due_at=now + timedelta(hours=5), reason="first check")
        a_follow(user, source)
        sign_in(page, user)
        page.goto("/river/")
        page.get_by_role("button", name="Check for new articles").click()
        expect(page.get_by_text("1 feed is being checked…")).to_be_visible()
        with ThreadPoolExecutor(1) as worker:
            worker.submit(run_a_worker).result()
    if has_scripts(page):
        answer = page.get_by_role("status").filter(has_text="1 new article")
        expect(answer).to_be_visible()
        expect(page.locator(f"[data-count='source-{source.pk}']")).to_have_text("1")
        answer.get_by_role("link", name="Show").click()
    else:
        page.reload()
    expect(page.get_by_role("link", name="A headline")).to_be_visible()
    page.wait_for_load_state()  # or the form would be sent without scripts, and the answer be a page
    page.get_by_role("button", name="Check for new articles").click()
    expect(page.get_by_text("Next check in")).to_be_visible()
    if has_scripts(page):
        answer, bar = (page.locator(each).bounding_box() for each in ("#refresh-answer", ".list-bar"))
        assert answer["x"] > bar["x"]  # beside the sidebar, which would cover it
        assert answer["x"] + answer["width"] < bar["x"] + bar["width"]
        page.keyboard.press("Escape")
        expect(page.get_by_text("Next check in")).to_have_count(0)


@with_and_without_scripts
def test_the_sidebar_hides_read_feeds_and_makes_folders(page: Page):
    user = a_user()
    read, unread = (a_follow(user, a_source(title=title), folders=(a_folder(user),)) for title in ("Dull", "Lively"))
    some_postings(2, unread.source)
    page.set_viewport_size(WIDE)
    sign_in(page, user)
    page.goto(f"/river/source/{unread.source_id}/")
    feeds = page.get_by_role("group", name="Feeds", exact=True)
    lively = feeds.get_by_role("link", name="Lively")
    for shown in (1, 0):
        feeds.get_by_role("button", name="Only feeds with unread articles").click()
        expect(feeds.get_by_role("link", name=read.source.title)).to_be_visible(visible=not shown)
        expect(lively).to_have_attribute("aria-current", "page")
        page.reload()
        expect(feeds.get_by_role("link", name=read.source.title)).to_be_visible(visible=not shown)
    feeds.locator("summary", has_text="New folder").click()
    feeds.get_by_label("Name of the new folder").fill("Science")
    feeds.get_by_role("button", name="Create").click()
    expect(feeds.get_by_role("link", name="Science")).to_be_visible()
    expect(lively).to_have_attribute("aria-current", "page")
    assert Folder.objects.filter(user=user, name="Science").exists()
