"""Pictures in a real browser: it loads them through the portal and contacts no other site."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Event, Thread

import pytest
from django.core.cache import cache
from PIL import Image
from playwright.sync_api import Page, Request, expect

from apps.accounts.models import User
from apps.postings.algorithms.markup import clean
from tests.browser.test_reading import sign_in
from tests.builders import a_follow, a_posting, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def gif(width: int, height: int) -> bytes:
    file = BytesIO()
    Image.new("L", (width, height)).save(file, "GIF")
    return file.getvalue()


class Publisher(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.agents: list[str] = []
        self.picture = gif(3, 2)
        self.may_answer = Event()
        self.may_answer.set()


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.agents.append(self.headers["User-Agent"])
        self.send_response(200)
        self.send_header("Content-Type", "image/gif")
        self.send_header("Content-Length", str(len(self.server.picture)))
        self.end_headers()
        self.server.may_answer.wait(30)
        self.wfile.write(self.server.picture)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def publisher(settings, tmp_path) -> Iterator[Publisher]:
    cache.clear()
    settings.RETRIEVAL_OPEN_HOSTS = ["pictures.localhost"]
    location = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = settings.STORAGES | {"documents": location}
    with Publisher() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.may_answer.set()
        server.shutdown()
        thread.join()


def open_posting(page: Page, publisher: Publisher, images: User.Images) -> list[Request]:
    """Open a posting with a picture with this setting; returns the browser's requests."""
    site = f"http://pictures.localhost:{publisher.server_port}"
    html = clean(f'<p>Look:</p><img src="{site}/cat.gif" alt="A cat"><p>It purrs.</p>').html
    posting = a_posting(a_follow(a_user(images=images)).source, html=html, image_url=f"{site}/cat.gif")
    requests: list[Request] = []
    sign_in(page, posting.source.follows.get().user)
    page.on("request", lambda request: requests.append(request))
    page.goto("/river/?show=all", wait_until="domcontentloaded")
    page.goto(f"/posting/{posting.pk}/", wait_until="domcontentloaded")
    expect(page.get_by_text("Look:")).to_be_visible()
    return requests


def test_the_browser_shows_a_picture_that_the_portal_fetched(page: Page, publisher):
    requests = open_posting(page, publisher, User.Images.PROXIED)
    picture = page.get_by_alt_text("A cat")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("picture => [picture.naturalWidth, picture.naturalHeight]") == [3, 2]
    assert not [request.url for request in requests if "pictures.localhost" in request.url]
    assert [agent.partition("/")[0] for agent in publisher.agents] == ["Wirebeat"]


def test_a_blocked_picture_is_a_link_and_not_fetched(page: Page, publisher):
    requests = open_posting(page, publisher, User.Images.BLOCKED)
    expect(page.get_by_role("link", name="Picture: A cat")).to_be_visible()
    assert page.locator("main img").count() == 0
    assert not [request.url for request in requests if "/image/" in request.url or "pictures.localhost" in request.url]
    assert publisher.agents == []


def test_a_direct_picture_is_fetched_by_the_browser(page: Page, publisher):
    open_posting(page, publisher, User.Images.DIRECT)
    expect(page.get_by_alt_text("A cat")).to_have_js_property("naturalWidth", 3)
    assert publisher.agents
    assert not any(agent.startswith("Wirebeat") for agent in publisher.agents)


@pytest.mark.parametrize(("width", "height"), [(640, 360), (960, 540)])
def test_a_photograph_without_a_size_moves_nothing_when_it_arrives(page: Page, publisher, width, height):
    publisher.picture = gif(width, height)
    publisher.may_answer.clear()
    open_posting(page, publisher, User.Images.DIRECT)
    below, picture = page.get_by_text("It purrs."), page.get_by_alt_text("A cat")
    before = below.bounding_box()
    publisher.may_answer.set()
    expect(picture).to_have_js_property("complete", True)
    expect(picture).to_have_js_property("naturalWidth", width)
    assert below.bounding_box() == pytest.approx(before, abs=1)


@pytest.mark.parametrize(
    "markup", ['<p>Look: <img src="{}" alt="A cat"> here</p>', '<img src="{}" alt="A cat" width="40">']
)
def test_an_icon_and_a_narrow_picture_leave_no_room(page: Page, publisher, markup):
    publisher.may_answer.clear()
    site = f"http://pictures.localhost:{publisher.server_port}"
    html = clean(markup.format(f"{site}/cat.gif") + "<p>It purrs.</p>").html
    posting = a_posting(a_follow(a_user(images=User.Images.DIRECT)).source, html=html)
    sign_in(page, posting.source.follows.get().user)
    page.goto(f"/posting/{posting.pk}/", wait_until="domcontentloaded")
    before = page.get_by_text("It purrs.").bounding_box()
    publisher.may_answer.set()
    expect(page.get_by_alt_text("A cat")).to_have_js_property("naturalWidth", 3)
    assert before["y"] < page.get_by_text("It purrs.").bounding_box()["y"] + 60


def test_a_small_picture_keeps_its_size(page: Page, publisher):
    open_posting(page, publisher, User.Images.DIRECT)
    expect(page.get_by_alt_text("A cat")).to_have_js_property("clientWidth", 3)
