"""A real browser in front of a real server. Without chromium these tests are skipped."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

PATIENCE = 30_000.0  # ms; the machine may be busy
expect.set_options(timeout=PATIENCE)
CHROMIUM = os.environ.get("WIREBEAT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
HAS_WINDOWS = "headless-shell" not in (CHROMIUM or "")
NO_BARS = {"windowState": "fullscreen"}  # those of a window would be painted with every page
PHONE = {"width": 390, "height": 844}
WHERE_TO_GET_IT = "needs chromium: apt-get install chromium, or name another one in WIREBEAT_CHROMIUM"


def wait_until(page: Page, expression: str) -> None:
    """Until it is true; `wait_for_function` evaluates in the page, which its policy forbids."""
    end = time.monotonic() + PATIENCE / 1_000
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """It ends with this folder: its driver runs a loop in this thread, where other tests run loops of their own."""
    if CHROMIUM is None:
        pytest.skip(WHERE_TO_GET_IT)
    # Without isolation, a page takes one process instead of several; nor does drawing need one of its own.
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-site-isolation-trials", "--in-process-gpu"]
    with sync_playwright() as driver, driver.chromium.launch(executable_path=CHROMIUM, args=options) as browser:
        yield browser


@dataclass
class Tab:
    """A page of a context of its own, which serves many tests: a new context takes longer than most tests."""

    page: Page
    complaints: list[str] = field(default_factory=list)  # errors, so also those of the content security policy
    is_reusable: bool = True

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        if HAS_WINDOWS:
            window = self._send("Browser.getWindowForTarget")["windowId"]
            self._send("Browser.setWindowBounds", windowId=window, bounds=NO_BARS)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        _press_when_ready(self.page)
        for owner, name in (
            (self.page, "on"),
            (self.page, "add_init_script"),
            (self.page.context, "on"),
            (self.page.context, "add_init_script"),
            (self.page.context, "new_cdp_session"),
        ):
            self._use_once_after(owner, name)

    def _send(self, command: str, **parameters: Any) -> Any:
        """To the browser's own protocol, in a session that does not count as the test's."""
        session = BrowserContext.new_cdp_session(self.page.context, self.page)
        try:
            return session.send(command, parameters)
        finally:
            session.detach()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} at {self.page.url}")

    def _use_once_after(self, owner: object, name: str) -> None:
        """What this method does cannot be undone."""
        method = getattr(owner, name)

        def noticed(*arguments: Any, **options: Any) -> Any:
            self.is_reusable = False
            return method(*arguments, **options)

        setattr(owner, name, noticed)

    def reset(self, origin: str) -> None:
        """Leave the page, and forget everything but the files that the browser has cached."""
        page, context = self.page, self.page.context
        page.goto("about:blank")
        page.unroute_all()
        context.unroute_all()
        context.clear_cookies()
        self._send("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self._send("Page.resetNavigationHistory")
        page.set_extra_http_headers({})
        page.set_viewport_size(PHONE)
        page.emulate_media(
            media="null", color_scheme="null", reduced_motion="null", forced_colors="null", contrast="null"
        )


def _press_when_ready(page: Page) -> None:
    """Have keys wait for the page to be loaded: before, its scripts do not listen."""
    press = page.keyboard.press

    def press_when_ready(key: str, **options: Any) -> None:
        page.wait_for_load_state()
        press(key, **options)

    page.keyboard.press = press_when_ready  # type: ignore[method-assign]


@pytest.fixture(scope="package")
def tabs(browser: Browser) -> dict[str, Tab]:
    """Those that the next test may use, by whether they run scripts; they are closed with the browser."""
    return {}


@pytest.fixture(params=["with scripts"])
def page(request: pytest.FixtureRequest, browser: Browser, tabs: dict[str, Tab], live_server: Any) -> Iterator[Page]:
    """Parametrise it indirectly with "without scripts" to switch JavaScript off."""
    tab = tabs.pop(request.param, None)
    if tab is None:
        context = browser.new_context(
            base_url=live_server.url,
            java_script_enabled=request.param != "without scripts",
            viewport=PHONE,
            service_workers="block",  # theirs are the tests of test_offline
        )
        tab = Tab(context.new_page())
    failed = request.session.testsfailed
    yield tab.page
    if request.session.testsfailed > failed:
        tab.is_reusable = False
    if tab.is_reusable:
        try:
            tab.reset(live_server.url)
        except Error:  # a navigation that was still under way may interrupt it
            tab.is_reusable = False
    if tab.is_reusable:
        tabs[request.param] = tab
    else:
        tab.page.context.close()
    complaints = tab.complaints.copy()
    tab.complaints.clear()
    assert not complaints
