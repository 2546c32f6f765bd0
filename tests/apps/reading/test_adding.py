"""Following an address: the requests to the site, and the offered feeds."""

import re
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.urls import reverse

from apps.following.models import Follow
from tests.builders import a_folder, a_user

pytestmark = pytest.mark.django_db

PAGE = b"""<!doctype html><title>A site</title>
<link rel="alternate" type="application/rss+xml" title="News &amp; views" href="/news">
<link rel="alternate" type="application/rss+xml" title="Sport" href="/sport">"""
FEED = b"<rss version='2.0'><channel><title>Sport</title><item><title>Won</title><guid>1</guid></item></channel></rss>"
DOCUMENTS = {"/": ("text/html", PAGE), "/news": ("text/html", b"<p>No feed."), "/sport": ("application/rss+xml", FEED)}


class Site(ThreadingHTTPServer):
    """A page that names two feeds, of which the first is none."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SiteHandler)
        self.paths: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class SiteHandler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        kind, body = DOCUMENTS.get(self.path, ("text/plain", b""))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def site(settings) -> Iterator[Site]:
    settings.RETRIEVAL_HOST_GAP = 0
    settings.RETRIEVAL_MIN_GAP = 0  # so that no document is served from the cache
    settings.RETRIEVAL_OPEN_HOSTS = ["127.0.0.1"]
    with Site() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


def forms_offered(page: str) -> dict[str, dict[str, list[str]]]:
    """The hidden fields of each choice, under its button's name."""
    offered = {}
    for form in re.findall(r'<form method="post">(.*?)</form>', page, re.DOTALL):
        button = unescape(re.findall(r'aria-label="(.*?)"', form)[0])
        fields = re.findall(r'name="(address|folders)" value="(.*?)"', form)
        offered[button] = {name: [unescape(value) for key, value in fields if key == name] for name, _ in fields}
    return offered


def test_of_several_feeds_the_chosen_one_is_followed_without_refetching_the_page(client, user, site):
    folder = a_folder(user)
    page = client.post(reverse("add"), {"address": site.address, "folders": [folder.pk]}).text
    offered = forms_offered(page)
    assert list(offered) == ["Follow News & views", "Follow Sport"]
    assert not Follow.objects.exists()

    site.paths.clear()
    answer = client.post(reverse("add"), offered["Follow Sport"])
    follow = Follow.objects.get(user=user)
    assert answer.url == reverse("river_source", args=[follow.source_id])
    assert follow.source.url == f"{site.address}/sport"
    assert list(follow.folders.all()) == [folder]
    assert [path for path in site.paths if path != "/robots.txt"] == ["/sport"]


def test_guesses_that_lead_to_no_feed_are_not_shown(client, user, site):
    page = client.post(reverse("add"), {"address": f"{site.address}/news"}).text
    assert "names no feed" in page.split('role="alert"')[1].split("</div>")[0]
    assert not forms_offered(page)
    assert not Follow.objects.exists()


def test_the_only_feed_of_a_site_is_fetched_once(client, user, site):
    client.post(reverse("add"), {"address": f"{site.address}/sport"})
    assert Follow.objects.get().source.title == "Sport"
    assert site.paths.count("/sport") == 1
