"""A page serves many tests: none finds what another has left in it."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import PHONE, Tab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LEAVE = "localStorage.left = sessionStorage.left = '1'; document.cookie = 'left=1'; location.hash = 'left'"
LEFT = """() => [localStorage.left, sessionStorage.left, document.cookie.includes("left"), history.length, innerWidth,
    matchMedia("(prefers-color-scheme: dark)").matches]"""


@pytest.fixture
def tab(browser, live_server) -> Tab:
    tab = Tab(browser.new_context(base_url=live_server.url, viewport=PHONE).new_page())
    yield tab
    tab.page.context.close()


def found(page: Page) -> list[object]:
    page.goto("/help/keys/")
    return page.evaluate(LEFT)


def test_a_reset_removes_what_a_test_left(tab: Tab, live_server):
    before = found(tab.page)
    tab.page.evaluate(LEAVE)
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.page.emulate_media(color_scheme="dark")
    tab.page.route("**/help/keys/", lambda route: route.abort())
    tab.reset(live_server.url)
    assert found(tab.page) == before
    assert tab.is_reusable


def test_a_page_is_not_reused_after_irreversible_steps(tab: Tab):
    tab.page.add_init_script("window.left = 1")
    assert not tab.is_reusable
