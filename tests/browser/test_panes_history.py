"""The browser's buttons lead between articles and their list, also from and to pages that were loaded since."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_panes import DESKTOP, PHONE, a_list


@pytest.mark.parametrize("window", [DESKTOP, PHONE])
@pytest.mark.parametrize("leave", ["reload the list", "reload the article", "visit another page"])
def test_the_list_comes_back_after_a_page_was_loaded_again(page: Page, window, leave):
    posting = a_list(page, 3)[1]
    page.set_viewport_size(window)
    page.goto("/river/")
    page.locator(f"#title-{posting.pk}").click()
    heading = page.locator("[data-heading]")
    expect(heading).to_have_text(posting.title)
    if leave == "reload the list":
        page.go_back()
        expect(heading).to_have_count(0)
        page.reload()
    elif leave == "reload the article":
        page.reload()
        page.go_back()
    else:
        page.goto("/account/")
        page.go_back()
        page.go_back()
    expect(page).to_have_title(re.compile("All articles"))
    page.go_forward()
    expect(heading).to_have_text(posting.title)
    page.go_back()
    expect(heading).to_have_count(0)
    expect(page).to_have_title(re.compile("All articles"))
    expect(page.locator(f"#title-{posting.pk}")).to_be_visible()
