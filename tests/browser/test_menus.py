"""Menus and views that cover others, and what is left when they close."""

import pytest
from playwright.sync_api import Page, expect

from apps.stories.actions.learning import set_learning
from tests.browser.test_reading import sign_in
from tests.builders import a_follow, a_posting, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_escape_closes_a_menu_with_all_that_was_opened_in_it(page: Page):
    user = a_user()
    set_learning(user, is_on=False)
    sign_in(page, user)
    page.goto("/for-you/")
    menu, forget = page.locator(".bar-menu > summary"), page.get_by_role("button", name="Forget all")
    menu.click()
    page.get_by_text("Reset…").click()
    expect(forget).to_be_visible()
    page.keyboard.press("Escape")
    menu.click()
    expect(page.get_by_text("Reset…")).to_be_visible()
    expect(forget).to_be_hidden()


@pytest.mark.parametrize("width", [820, 1024, 1440])
def test_the_reader_view_is_in_the_middle_of_the_window(page: Page, width: int):
    follow = a_follow()
    sign_in(page, follow.user)
    text = "The tide rose above the wall of the old harbour. " * 60
    posting = a_posting(follow.source, html=f"<p>{text}</p>", text=text)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/river/")
    page.locator(f"#title-{posting.pk}").click()
    page.locator("a[data-reader]").click()
    expect(page.locator(".sidebar")).to_be_hidden()
    box = page.locator("#pane .prose").bounding_box()
    assert abs(width - box["width"] - 2 * box["x"]) < 2


def test_the_bar_of_a_phone_marks_the_place(page: Page):
    follow = a_follow()
    sign_in(page, follow.user)
    for address, name in (
        ("/river/", "Articles"),
        (f"/river/source/{follow.source_id}/", "Articles"),
        ("/search/", "Search"),
    ):
        page.goto(address)
        expect(page.locator(".tabs [aria-current]")).to_have_text(name)
    page.goto("/account/")
    expect(page.locator(".tabs")).to_be_visible()
    expect(page.locator(".tabs [aria-current]")).to_have_count(0)
