"""A summary and its length, seen through a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.scripts import without_scripts
from tests.builders import a_posting

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXT = " ".join(
    f"The {which} bridge was {what} on {day} after the storm, officials of the harbour told our paper later."
    for which, what, day in zip(
        ["harbour", "old", "stone", "new", "wooden", "iron", "last"],
        ["closed", "inspected", "left", "searched", "opened", "watched", "painted"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
)


def test_a_slider_makes_the_summary_longer_in_its_place(page: Page):
    posting = a_posting(text=TEXT, html=f"<p>{TEXT}</p>", language="en")
    page.goto(f"/posting/{posting.pk}/?percent=10")
    summary = page.get_by_role("region", name="Summary")
    expect(summary.locator(".summary-text")).to_contain_text("The harbour bridge was closed")
    slider = summary.get_by_role("slider", name="Length")
    slider.focus()
    for _ in range(4):
        slider.press("ArrowRight")
    expect(summary.get_by_role("link", name="50%")).to_have_attribute("aria-current", "true")
    assert summary.locator(".summary-text").inner_text().count("officials") == 4
    expect(slider).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@without_scripts
def test_links_make_it_longer_without_scripts(page: Page):
    posting = a_posting(text=TEXT, html=f"<p>{TEXT}</p>", language="en")
    page.goto(f"/posting/{posting.pk}/")
    summary = page.get_by_role("region", name="Summary")
    expect(summary.get_by_role("slider")).to_have_count(0)
    summary.get_by_role("link", name="10%").click()
    expect(summary.get_by_role("link", name="10%")).to_have_attribute("aria-current", "true")
    assert summary.locator(".summary-text").inner_text().count("officials") == 1
