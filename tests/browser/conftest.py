"""A real browser in front of a real server. Without chromium these tests are skipped."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

PATIENCE = 30_000.0  # ms; the machine may be busy
expect.set_options(timeout=PATIENCE)
CHROMIUM = os.environ.get("WIREBEAT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WHERE_TO_GET_IT = "needs chromium: apt-get install chromium, or name another one in WIREBEAT_CHROMIUM"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """It ends with this folder: its driver runs a loop in this thread, where other tests run loops of their own."""
    if CHROMIUM is None:
        pytest.skip(WHERE_TO_GET_IT)
    # Without isolation, a page takes one process instead of several.
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-site-isolation-trials"]
    with sync_playwright() as driver, driver.chromium.launch(executable_path=CHROMIUM, args=options) as browser:
        yield browser


def _open_page(context: BrowserContext, complaints: list[str]) -> Page:
    """A page on which every message of an error, so also one of the content security policy, fails the test."""

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(f"{message.text} at {context.pages[0].url}")

    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    _press_when_ready(page)
    return page


def _press_when_ready(page: Page) -> None:
    """Have keys wait for the page to be loaded: before, its scripts do not listen."""
    press = page.keyboard.press

    def press_when_ready(key: str, **options: Any) -> None:
        page.wait_for_load_state()
        press(key, **options)

    page.keyboard.press = press_when_ready  # type: ignore[method-assign]


@pytest.fixture(params=["with scripts"])
def page(request: pytest.FixtureRequest, browser: Browser, live_server: Any) -> Iterator[Page]:
    """Parametrise it indirectly with "without scripts" to switch JavaScript off."""
    complaints: list[str] = []
    context = browser.new_context(
        base_url=live_server.url,
        java_script_enabled=request.param != "without scripts",
        viewport={"width": 390, "height": 844},
        service_workers="block",  # theirs are the tests of test_offline
    )
    yield _open_page(context, complaints)
    context.close()
    assert not complaints
