"""One article of three feeds is one row, is read once, and is counted in each feed and once in all."""

from itertools import permutations

import pytest
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from tests.apps.reading.test_copies import NAMES, Reader
from tests.browser.scripts import with_and_without_scripts
from tests.browser.test_reading import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DESKTOP = {"width": 1440, "height": 900}
ORDERS = [
    pytest.param(order, marks=[pytest.mark.trial] if order != NAMES else [], id=" ".join(order))
    for order in permutations(NAMES)
]


def counts(page: Page, reader: Reader) -> dict[str, str]:
    shown = {name: f"source-{feed.pk}" for name, feed in reader.feeds.items()} | {"All": "all"}
    return {name: page.locator(f".sidebar [data-count='{count}']").first.inner_text() for name, count in shown.items()}


@pytest.mark.parametrize("order", ORDERS)
@with_and_without_scripts
def test_an_article_of_three_feeds_is_one_row_and_read_once(
    page: Page, order: tuple[str, ...], django_capture_on_commit_callbacks
):
    reader = Reader(django_capture_on_commit_callbacks)
    for minutes, name in enumerate(order):
        reader.receives(name, minutes=minutes)
    page.set_viewport_size(DESKTOP)
    sign_in(page, reader.user)
    page.goto("/river/")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row").get_by_text("+2 feeds")).to_be_visible()
    assert counts(page, reader) == dict.fromkeys([*NAMES, "All"], "1")
    page.locator(".row .row-title a").click()
    expect(page.get_by_role("heading", level=1, name="Flood in the")).to_be_visible()
    page.goto("/river/?show=unread")
    expect(page.locator(".row")).to_have_count(0)
    assert set(counts(page, reader).values()) == {""}
    User.objects.filter(pk=reader.user.pk).update(every_copy=True)
    page.goto("/river/?show=all")
    expect(page.locator(".row")).to_have_count(3)
