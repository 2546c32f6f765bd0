"""The page that documents our own interface draws itself with our own files, under our own policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.apps.api.programs import Program
from tests.builders import a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_every_operation_can_be_looked_up_and_tried(page: Page, live_server) -> None:
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto("/api/v1/docs")
    expect(page.get_by_text("/api/v1/postings/{posting_id}", exact=False).first).to_be_visible()
    expect(page.locator(".opblock")).to_have_count(41)
    page.get_by_role("button", name="Authorize").first.click()
    page.get_by_label("auth-bearer-value").fill(Program(a_user("Ada")).secret)
    page.get_by_role("button", name="Apply credentials").click()
    page.get_by_role("button", name="Close").click()
    page.locator("#operations-account-read_account").get_by_role("button").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table")).to_contain_text('"username": "Ada"')
    assert all(address.startswith((live_server.url, "data:")) for address in addresses)
