"""Trends, seen through a browser."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.trending import actions
from tests.browser.scripts import without_scripts
from tests.builders import a_posting, a_source

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@without_scripts
def test_a_word_is_drawn_taken_away_and_searched_for(page: Page):
    now = timezone.now()
    sources = [a_source(listed=True, title=f"Gazette {number}", category="local") for number in range(6)]
    for number in range(12):
        title = f"Harbour bridge closed {'abcdefghijkl'[number]}" + (" as ferries sail" if number < 3 else "")
        a_posting(
            sources[number % 6], title=title, text="", language="en", published_at=now - timedelta(minutes=number)
        )
    while actions.count():
        pass
    while actions.slice_stale():
        pass
    actions.refresh(("hour", "day"), now)

    page.goto("/")
    page.get_by_role("link", name="Trends").first.click()
    day = page.get_by_role("region", name="24 hours")
    expect(day.get_by_role("link", name="Harbour bridge", exact=True)).to_have_attribute(
        "href", "/search/?q=%22Harbour+bridge%22"
    )
    page.get_by_role("searchbox", name="Add a word to the chart").fill("ferries")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("link", name="Without ferries")).to_be_visible()
    page.get_by_role("link", name="Without Harbour bridge").click()
    expect(page.get_by_role("link", name="Chart Harbour bridge").first).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("columnheader", name="ferries")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
