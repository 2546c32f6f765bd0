"""Notifications from end to end: a message through a local push service in a real browser, and mails on a phone."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect

from apps.alerts.actions import delivering
from apps.alerts.queries.messages import due
from lab.worlds.receivers import DOMAIN, a_browser, mailing, receiving
from tests.apps.alerts.delivering import a_search, find
from tests.browser.conftest import PATIENCE, PHONE
from tests.builders import a_posting, a_source, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The worker's own listener gets the message as browsers hand it over, without windows of the system.
HAND_OVER = """async (payload) => {
  const shown = [];
  self.registration.showNotification = async (title, options) => void shown.push({ title, ...options });
  self.dispatchEvent(new PushEvent("push", { data: payload }));
  return shown;
}"""


@pytest.fixture
def device(browser: Browser, live_server: Any) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=live_server.url, viewport=PHONE, permissions=["notifications"])
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


def deliver_all() -> None:
    """In another thread, as the loop of the browser's driver runs in this one."""

    def deliver() -> None:
        now = timezone.now()
        for message_id in due(now):
            delivering.deliver(message_id, now=now)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(deliver).result()


def test_a_push_arrives_in_the_browser_as_the_push_service_got_it(device, client, live_server, settings):
    settings.PROJECT_URL, settings.RETRIEVAL_HOST_GAP = live_server.url, 0.0
    settings.RETRIEVAL_OPEN_HOSTS = [f".{DOMAIN}"]
    user = a_user()
    client.force_login(user)
    device.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = device.new_page()
    page.goto("/alerts/settings/")
    page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)")
    [worker] = device.service_workers
    posting = a_posting(a_source(title="The Source"), title="A hurricane comes")
    with receiving() as push_service:
        phone = a_browser(user, push_service.url("/subscription/1"), now=timezone.now())
        find(a_search(user, "Storms", push=True), now=timezone.now(), postings=[posting])
        deliver_all()
        [call] = push_service.taken
    payload = phone.read(call.body)  # as a browser decrypts it
    [shown] = worker.evaluate(HAND_OVER, json.dumps(payload))
    assert (shown["title"], shown["body"]) == ("Storms", "A hurricane comes\nThe Source")
    assert shown["data"] == {"url": f"{live_server.url}/posting/{posting.pk}/"}


LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3


@pytest.mark.parametrize("width", [320, 390, 1_440])
def test_a_digest_fits_any_screen_and_stops_with_one_click(page: Page, width: int, settings, client, live_server):
    settings.PROJECT_URL = live_server.url
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    user = a_user(email="ada@mail.example")
    storms, floods = (a_search(user, name, mail="hour") for name in ("Storms", LONG[:90]))
    source = a_source(title="The Source")
    postings = [a_posting(source, title=title, url=f"https://news.example/{LONG}") for title in ("Hurricane", LONG)]
    find(storms, floods, now=timezone.now() - timedelta(hours=2), postings=postings)
    with mailing() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        deliver_all()
        [mail] = server.taken
    page.set_viewport_size({"width": width, "height": 844})
    page.set_content(mail.get_body(("html",)).get_content())
    expect(page.get_by_role("link", name="Hurricane").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    plain = "\n".join(mail.get_body(("plain",)).get_content().splitlines())
    assert "* Hurricane\n  The Source, " in plain
    assert "<" not in plain
    # RFC 8058: the mail program posts this to the address in the header, without signing in.
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = mail["List-Unsubscribe"].strip(" <>").removeprefix(live_server.url)
    assert client.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    for saved in (storms, floods):
        saved.rule.refresh_from_db()
        assert saved.rule.stopped_at is not None
