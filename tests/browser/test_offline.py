"""Offline reading: stored postings, marks made offline, and what remains after signing out."""

import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from apps.accounts.models import User
from apps.following.models import Mark, OfflineChange
from apps.postings.models import Posting
from apps.web.pages.offline_shell import shell
from tests.browser.conftest import PATIENCE
from tests.builders import a_follow, a_user, some_postings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SEND_MESSAGE = """async (message) => {
  const { active } = await navigator.serviceWorker.ready;
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    active.postMessage(message, [port2]);
  });
}"""


@pytest.fixture
def device(browser: Browser, live_server: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=live_server.url, viewport={"width": 390, "height": 844})
    context.set_default_timeout(PATIENCE)
    yield context
    context.set_offline(False)
    context.close()


@pytest.fixture
def reader() -> User:
    return a_user()


@pytest.fixture
def postings(reader: User) -> list[Posting]:
    return some_postings(3, a_follow(reader).source, newest_at=timezone.now())


def sign_in(device: BrowserContext, client: Any, user: User, live_server: Any) -> None:
    client.force_login(user)
    device.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])


def send_message(page: Page, **message: Any) -> Any:
    return page.evaluate(SEND_MESSAGE, message)


def wait_until(page: Page, what: str, value: object) -> None:
    """Until the worker says so of what it keeps."""
    eventually(page, lambda: send_message(page, do="about")[what], value)


def eventually(page: Page, read: Callable[[], object], value: object) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while (found := read()) != value:
        assert time.monotonic() < deadline, f"{found}, not {value}"
        page.wait_for_timeout(50)


@pytest.fixture
def page(device: BrowserContext, client: Any, reader: User, postings: list[Posting], live_server: Any) -> Page:
    """The river, and beside it a browser that has fetched what it keeps."""
    sign_in(device, client, reader, live_server)
    page = device.new_page()
    page.goto("/river/")
    wait_until(page, "articles", len(postings))
    return page


def test_an_article_is_read_and_starred_without_a_network_and_arrives_once(
    page: Page, device: BrowserContext, reader: User, postings: list[Posting]
):
    posting = postings[1]
    device.set_offline(True)
    page.goto("/river/")
    expect(page.get_by_role("heading", name="Saved offline")).to_be_visible()
    expect(page.locator("article")).to_have_count(3)
    page.get_by_role("link", name=posting.title, exact=True).click()
    expect(page).to_have_title(re.compile(posting.title))
    expect(page.get_by_text(posting.text)).to_be_visible()
    page.wait_for_load_state()  # its scripts listen
    page.locator("[data-star]").click()
    expect(page.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Changes waiting to be sent: 2")).to_be_visible()  # it was read as well
    assert not Mark.objects.exists()

    page.goto("/river/")
    row = page.locator(f"#posting-{posting.pk}")
    expect(row.locator("[data-star]")).to_have_attribute("aria-pressed", "true")
    expect(row.locator("[data-unread]")).to_have_count(0)

    device.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")  # a busy browser may say so late
    expect(page.get_by_text("Back online.")).to_be_visible()
    mark = Mark.objects.get(user=reader)
    assert (mark.posting_id, mark.read, mark.starred_at is not None) == (posting.pk, True, True)
    assert OfflineChange.objects.count() == 2
    page.get_by_role("link", name="Reload").click()
    expect(page.get_by_role("heading", name="All articles")).to_be_visible()
    expect(page.locator("[data-offline]")).to_be_hidden()


def test_changes_whose_answer_was_lost_are_sent_again_and_applied_once(
    page: Page, device: BrowserContext, reader: User, postings: list[Posting]
):
    sent: list[list[str]] = []

    turns = count()

    def lose_first(route: Route) -> None:
        if next(turns) == 0:
            assert route.fetch().ok
            route.abort()
        else:
            route.continue_()
        sent.append([change["id"] for change in json.loads(route.request.post_data or "")["changes"]])

    device.route("**/offline/changes/", lose_first)
    device.set_offline(True)
    page.locator(f"#posting-{postings[0].pk} [data-star]").click()
    expect(page.get_by_text("Changes waiting to be sent: 1")).to_be_visible()
    device.set_offline(False)
    while not sent:
        page.wait_for_timeout(50)
    assert Mark.objects.get().starred_at
    send_message(page, do="send")
    wait_until(page, "waiting", 0)
    assert len(sent) >= 2
    assert sent[0] == sent[1]
    assert OfflineChange.objects.count() == 1


def test_later_marks_from_another_device_are_kept(
    page: Page, device: BrowserContext, reader: User, postings: list[Posting]
):
    device.set_offline(True)
    page.locator(f"#posting-{postings[0].pk} [data-star]").click()
    expect(page.get_by_text("Changes waiting")).to_be_visible()
    at = timezone.now()
    Mark.objects.create(user=reader, posting=postings[0], changed_at=at, star_changed_at=at)  # starred, and no more
    device.set_offline(False)
    expect(page.get_by_text("Changes waiting")).to_be_hidden()
    assert Mark.objects.get().starred_at is None
    assert OfflineChange.objects.get().outcome == "superseded"


def test_changes_are_sent_again_until_the_network_works(
    page: Page, device: BrowserContext, reader: User, postings: list[Posting]
):
    failures = count()

    def fail_twice(route: Route) -> None:
        if next(failures) < 2:
            route.abort()
        else:
            route.continue_()

    device.route(re.compile("/offline/list/"), fail_twice)
    device.set_offline(True)
    page.locator(f"#posting-{postings[0].pk} [data-star]").click()
    expect(page.get_by_text("Changes waiting")).to_be_visible()
    device.set_offline(False)
    expect(page.get_by_text("Changes waiting")).to_be_hidden()
    assert next(failures) > 2
    assert Mark.objects.get().starred_at


def test_signing_out_leaves_nothing_behind(page: Page, device: BrowserContext, postings: list[Posting]):
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name=re.compile("Sign Out", re.IGNORECASE)).click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    wait_until(page, "articles", 0)
    device.set_offline(True)
    page.goto("/river/")
    expect(page.get_by_text("No articles are saved")).to_be_visible()
    assert postings[0].title not in page.content()


def test_the_next_user_of_a_browser_sees_no_articles_of_the_previous_one(
    page: Page, device: BrowserContext, client: Any, live_server: Any, postings: list[Posting]
):
    device.set_offline(True)
    page.locator(f"#posting-{postings[0].pk} [data-star]").click()
    expect(page.get_by_text("Changes waiting")).to_be_visible()
    other = a_user()
    (theirs,) = some_postings(1, a_follow(other).source, newest_at=timezone.now())
    sign_in(device, client, other, live_server)
    device.set_offline(False)
    page.goto("/river/")
    wait_until(page, "articles", 1)
    wait_until(page, "waiting", 0)
    device.set_offline(True)
    page.goto("/river/")
    expect(page.locator("article")).to_have_count(1)
    expect(page.get_by_role("link", name=theirs.title)).to_be_visible()
    assert not Mark.objects.exists()


def test_an_ended_session_hides_articles_and_keeps_unsent_changes(
    page: Page, device: BrowserContext, client: Any, live_server: Any, reader: User, postings: list[Posting]
):
    device.set_offline(True)
    page.locator(f"#posting-{postings[0].pk} [data-star]").click()
    expect(page.get_by_text("Changes waiting")).to_be_visible()
    device.clear_cookies()
    device.set_offline(False)
    page.goto("/catalogue/")
    wait_until(page, "articles", 0)
    assert not Mark.objects.exists()
    sign_in(device, client, reader, live_server)
    page.goto("/river/")
    wait_until(page, "articles", 3)
    wait_until(page, "waiting", 0)
    assert Mark.objects.get().starred_at


def versions_of(page: Page) -> set[str]:
    return set(re.findall(r"/offline/files/(\w+)/", page.content()))


def test_a_new_version_takes_over_whole_or_not_at_all(page: Page, device: BrowserContext, monkeypatch: Any):
    old, new = shell(), shell()._replace(version="f" * 16)
    monkeypatch.setattr("apps.web.pages.offline_shell._read_once", lambda: new)
    page.evaluate("navigator.serviceWorker.ready.then((registration) => registration.update())")
    eventually(page, lambda: set(page.evaluate("caches.keys()")), {f"shell-{old.version}", f"shell-{new.version}"})
    device.set_offline(True)
    page.goto("/river/")
    expect(page.locator("article")).to_have_count(3)
    assert versions_of(page) == {old.version}  # which the articles are of

    device.set_offline(False)
    page.goto("/river/")
    eventually(page, lambda: page.evaluate("caches.keys()"), [f"shell-{new.version}"])
    device.set_offline(True)
    page.goto("/river/")
    expect(page.locator("article")).to_have_count(3)
    assert versions_of(page) == {new.version}


def test_pictures_are_stored_on_request(page: Page, device: BrowserContext, postings: list[Posting]):
    Posting.objects.filter(pk=postings[0].pk).update(
        html='<p><img alt="A" src="https://a.example/1.png"></p>', text_hash=b"changed" + bytes(9)
    )
    picture = Path(settings.BASE_DIR, "static", "icons", "icon-192.png")
    device.route("**/image/**", lambda route: route.fulfill(path=picture))
    send_message(page, do="choose", length=50, pictures=True)
    device.set_offline(True)
    page.goto(f"/posting/{postings[0].pk}/")
    expect(page.get_by_role("img", name="A")).to_have_js_property("naturalWidth", 192)


def test_a_page_that_is_not_saved_shows_a_notice_and_saved_pages_load_their_own_version(
    page: Page, device: BrowserContext
):
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    device.set_offline(True)
    page.goto("/catalogue/")
    expect(page.get_by_text("this page is not saved offline")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).position") == "sticky"  # with its styles
    assert not [url for url in loaded if "/static/" in url]


def test_a_user_chooses_how_many_articles_are_saved(page: Page, device: BrowserContext, postings: list[Posting]):
    page.goto("/preferences/offline/")
    kept = page.locator("[data-kept-articles]")
    expect(kept).to_have_text("3")
    page.get_by_label("None").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(kept).to_have_text("0")
    page.get_by_label("100").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(kept).to_have_text("3")
    page.get_by_role("button", name="Delete saved articles").click()
    expect(kept).to_have_text("0")
    expect(page.get_by_label("None")).to_be_checked()
