"""Every page, for visitors and for an admin: light, still, legible, and without a serious fault of accessibility."""

from collections.abc import Iterable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request

from tests.browser import everything
from tests.browser.test_accessibility import PHONE, faults, faults_in_themes
from tests.browser.test_weight import WATCH, complaints, weighing

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(1_200)]


def assert_good(page: Page, addresses: Iterable[str], home: str) -> None:
    """Each is loaded once, for all that is checked."""
    found, weigh, requests = [], weighing(page), list[str]()

    def note(request: Request) -> None:
        if urlsplit(request.url).scheme not in ("data", "blob"):
            requests.append(request.url)

    page.on("request", note)
    page.add_init_script(WATCH)
    for address in addresses:
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
        found += complaints(page, address, home, weigh)
        found += [f"{address} {fault}" for fault in faults(page, whole=False)]  # all rules: in the trial
    assert not found, "\n".join(found)
    assert all(address.startswith(home) for address in requests)


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.trial)], ids=["an eighth", "all"])
def test_pages_for_visitors_are_accessible_and_fit(page: Page, client, live_server, share):
    values = everything.some_of_everything(everything.an_admin())
    addresses = everything.pages(client, values, share=share)
    assert len(addresses) >= 15 / share
    assert_good(page, addresses, live_server.url)


@pytest.mark.parametrize("share", [16, pytest.param(1, marks=pytest.mark.trial)], ids=["a sixteenth", "all"])
def test_pages_of_users_and_admins(page: Page, client, live_server, share):
    user = everything.an_admin()
    values = everything.some_of_everything(user)
    everything.sign_in(page.context, client, user, live_server.url)
    addresses = everything.pages(client, values, share=share)
    assert len(addresses) >= 50 / share
    assert_good(page, addresses, live_server.url)


@pytest.mark.trial
@pytest.mark.parametrize("signs_in", [False, True], ids=["visitor", "admin"])
def test_axe_finds_no_fault_in_any_theme(page: Page, client, live_server, signs_in):
    user = everything.an_admin()
    values = everything.some_of_everything(user)
    if signs_in:
        everything.sign_in(page.context, client, user, live_server.url)
    found = []
    for address in everything.pages(client, values):
        page.goto(address)
        found += [f"{address} {fault}" for fault in faults_in_themes(page)]
    assert not found, "\n".join(found)
