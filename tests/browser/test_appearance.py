"""Visitors and people choose a language and colours, with scripts and without."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.everything import sign_in
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_posting, a_source, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BRIGHTNESS = """() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"""


@with_and_without_scripts
def test_a_visitor_reads_in_chinese_by_night(page: Page):
    page.goto("/help/keys/")
    assert page.evaluate(BRIGHTNESS) > 200
    page.get_by_role("link", name="Language and appearance").click()
    page.get_by_label("简体中文").check()
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("键盘快捷键")
    assert page.evaluate(BRIGHTNESS) < 50
    page.get_by_role("link", name="语言与外观").click()
    expect(page.get_by_label("深色")).to_be_checked()
    page.get_by_label("浅色").check()
    page.get_by_label("浏览器默认").check()
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Keyboard shortcuts")


def test_the_systems_theme_is_the_default(page: Page):
    page.emulate_media(color_scheme="dark")
    page.goto("/help/keys/")
    assert page.evaluate(BRIGHTNESS) < 50


def test_text_from_right_to_left_stands_on_its_side_and_says_its_language(page: Page):
    source = a_source(listed=True)
    a_posting(source, title="أُغلق الجسر فوق الميناء", text="أُغلق الجسر يوم الاثنين.", language="ar")
    a_posting(source, title="A bridge is closed", text="It was closed on Monday.", language="en")
    page.goto("/")
    arabic, english = page.locator(".row-title[lang=ar]"), page.locator(".row-title[lang=en]")
    assert arabic.evaluate("title => getComputedStyle(title).direction") == "rtl"
    assert english.evaluate("title => getComputedStyle(title).direction") == "ltr"
    ends = "title => { const range = document.createRange(); range.selectNodeContents(title.firstChild);"
    ends += " return title.getBoundingClientRect().right - range.getBoundingClientRect().right; }"
    assert arabic.evaluate(ends) == pytest.approx(0, abs=1)
    assert english.evaluate(ends) > 20
    assert arabic.evaluate("title => getComputedStyle(title).letterSpacing") in ("normal", "0px")


def cuts_of_the_top_bar(page: Page) -> dict[int, int]:
    """How many pixels are cut, by the width of a phone."""
    cuts = {}
    for width in (360, 390, 430):
        page.set_viewport_size({"width": width, "height": 800})
        cuts[width] = page.locator(".top-places").evaluate("places => places.scrollWidth - places.clientWidth")
    return cuts


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_on_a_phone_no_word_of_the_top_bar_is_cut(page: Page, client, live_server, language):
    sign_in(page.context, client, a_user("somebody with a long name", language=language), live_server.url)
    page.goto("/save/buttons/")
    assert set(cuts_of_the_top_bar(page).values()) == {0}
    page.goto("/river/")
    for width in (360, 390, 430):
        page.set_viewport_size({"width": width, "height": 800})
        cuts = page.locator(".tabs > *").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
        assert cuts == [0, 0, 0, 0]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_on_a_phone_no_word_of_the_top_bar_is_cut_for_visitors(page: Page, language):
    page.set_extra_http_headers({"Accept-Language": language})
    page.goto("/")
    assert set(cuts_of_the_top_bar(page).values()) == {0}
    page.get_by_role("link", name="登录" if language == "zh-CN" else "Sign in", exact=True).click()
    expect(page.locator("main a[href^='/accounts/signup/']")).to_be_visible()


def test_all_of_a_persons_menu_is_reached_on_a_phone_that_lies(page: Page, client, live_server):
    sign_in(page.context, client, a_user(is_staff=True), live_server.url)
    page.set_viewport_size({"width": 844, "height": 390})
    page.goto("/tags/")
    page.get_by_role("button", name="Your menu").click()
    page.get_by_role("button", name="Sign out").scroll_into_view_if_needed()
    expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport()
