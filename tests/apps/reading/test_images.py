"""Pictures through the portal: what gets through, what does not, and what each reader is shown."""

import re
import struct
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from time import sleep

import pytest
from django.core.cache import cache
from django.core.files.storage import storages
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.documents.algorithms.packing import hash_of, path_of
from apps.documents.models import RawDocument
from apps.postings.algorithms.markup import clean
from apps.reading.actions import fetching, images
from apps.retrieval.http.fetching import Timeouts
from apps.web.pages.rows import address_in, proxied
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


def png(width: int = 1, height: int = 1) -> bytes:
    """A grey picture, whose pixels are left out where they would take too much."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress(b"\0" + bytes([128] * width)) * height if width * height < 10_000 else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


PICTURE = png()
SCRIPT = b"<script>alert('publisher')</script>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' onload='alert(1)'>" + SCRIPT + b"</svg>"
REFUSED = {
    "/script.svg": ("image/svg+xml", SVG),
    "/page.png": ("image/png", b"<!doctype html>" + SCRIPT),
    "/large.png": ("image/png", PICTURE + bytes(11 * 2**20)),
    "/bomb.png": ("image/png", png(100_000, 100_000)),
    "/nothing.png": ("image/png", b""),
}


class Publisher(ThreadingHTTPServer):
    """Answers with pictures, with what only seems to be some, and with redirects."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.answers = REFUSED | {"/picture.png": ("text/html", PICTURE)}
        self.redirects: dict[str, str] = {}
        self.pause = 0.0  # s before each answer
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []

    def address(self, path: str, host: str = "pictures.localhost") -> str:
        return f"http://{host}:{self.server_port}{path}"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        sleep(self.server.pause)
        if self.path in self.server.redirects:
            self.send_response(302)
            self.send_header("Location", self.server.redirects[self.path])
            self.end_headers()
            return
        kind, body = self.server.answers.get(self.path, ("text/html", SCRIPT))
        self.send_response(200 if self.path in self.server.answers else 404, "publisher says")
        self.send_header("Content-Type", kind)
        self.send_header("Set-Cookie", "publisher=1")
        self.send_header("X-Publisher", "publisher")
        self.end_headers()
        with suppress(ConnectionError):  # the client has disconnected
            self.wfile.write(body)

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
        server.shutdown()
        thread.join()


def images_of(page: str) -> list[str]:
    """The addresses that a browser would load pictures from, except our own icon."""
    sources = re.findall(r'<(?:img|source)\b[^>]* src="([^"]*)"', page) + re.findall(r' poster="([^"]*)"', page)
    sets = [word for value in re.findall(r' srcset="([^"]*)"', page) for word in value.split(" ") if len(word) > 3]
    return [unescape(address) for address in [*sources, *sets] if not address.startswith("/static/")]


def picture_sources(page: HttpResponse) -> str:
    """Where the page's policy lets pictures come from; its directives come in any order."""
    directives = [part.split() for part in page["Content-Security-Policy"].split(";")]
    return " ".join(next(words[1:] for words in directives if words[:1] == ["img-src"]))


def shown(address: str) -> bytes:
    """What a reader is shown in a thread of its own."""
    try:
        return Client().get(proxied(address)).content
    finally:
        connection.close()


def test_a_picture_is_shown_as_what_it_is_and_may_do_nothing(client, publisher):
    answer = client.get(proxied(publisher.address("/picture.png")), headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, answer.content) == (200, PICTURE)
    assert answer["Content-Type"] == "image/png"  # regardless of the publisher's header
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "public, max-age=86400, immutable"
    assert not {"Set-Cookie", "X-Publisher", "Content-Encoding"} & set(answer.headers)


def test_the_publisher_learns_nothing_of_the_reader(client, publisher):
    client.force_login(a_user())
    headers = {"Referer": "http://testserver/river/", "User-Agent": "Reader's own", "X-Forwarded-For": "203.0.113.9"}
    client.get(proxied(publisher.address("/picture.png")), headers=headers)
    [sent] = publisher.headers
    assert sent.keys() <= {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert sent["user-agent"].startswith("Wirebeat/")
    assert sent["accept"].startswith("image/")


def test_the_address_of_a_picture_is_found_again():
    address = "https://a.example/?x=1&y=<é>\"'"
    signature, encoded = proxied(address).split("/")[2:]
    assert address_in(signature, encoded) == address
    assert re.fullmatch(r"[\w-]+", signature + encoded)


def test_only_signed_addresses_are_fetched(client, publisher, settings):
    mine, other = (proxied(publisher.address(path)).split("/") for path in ("/picture.png", "/other.png"))
    settings.SECRET_KEY = "another"
    foreign = proxied(publisher.address("/picture.png")).split("/")
    settings.SECRET_KEY = settings.SECRET_KEY + "!"
    encoded = urlsafe_b64encode(publisher.address("/picture.png").encode()).decode().rstrip("=")
    assert encoded == mine[3]
    for signature, address in [
        (other[2], encoded),
        (foreign[2], encoded),
        ("é" + mine[2][1:], encoded),
        (mine[2], "é"),
        (mine[2], "a"),
        (mine[2], "gICA"),  # no UTF-8
        ("-", encoded),
    ]:
        answer = client.get(reverse("image", args=[signature, address]))
        assert (answer.status_code, answer["Content-Type"]) == (404, "text/plain; charset=utf-8")
        assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert publisher.paths == []


@pytest.mark.parametrize("path", [*REFUSED, "/missing.png"])
def test_an_invalid_picture_is_answered_without_words_of_the_publisher(client, publisher, path):
    answer = client.get(proxied(publisher.address(path)))
    assert (answer.status_code, answer["Content-Type"]) == (502, "text/plain; charset=utf-8")
    assert answer.text.startswith("This picture cannot be shown. ")
    assert len(answer.content) < 200
    assert b"publisher" not in answer.content
    assert b"<" not in answer.content
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert not RawDocument.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:{port}/picture.png",
        "http://[::1]:{port}/picture.png",
        "http://[::ffff:127.0.0.1]:{port}/picture.png",
        "http://localhost:{port}/picture.png",
        "http://2130706433:{port}/picture.png",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/picture.png",
        "http://pictures.localhost:{port}:x/",
        "http://user:password@pictures.localhost:{port}/picture.png",
        "ftp://pictures.localhost/picture.png",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize("by_redirect", [False, True])
def test_private_networks_are_not_fetched(client, publisher, address, by_redirect):
    target = address.format(port=publisher.server_port)
    publisher.redirects["/away"] = target
    answer = client.get(proxied(publisher.address("/away") if by_redirect else target))
    assert answer.status_code == 502
    assert publisher.paths == (["/away"] if by_redirect else [])


def test_a_redirect_to_a_picture_is_followed(client, publisher):
    publisher.redirects["/away"] = "/picture.png"
    assert client.get(proxied(publisher.address("/away"))).content == PICTURE


def test_two_readers_are_one_fetch(client, publisher):
    address = proxied(publisher.address("/picture.png"))
    assert [Client().get(address).content for _ in range(3)] == [PICTURE] * 3
    assert publisher.paths == ["/picture.png"]


@pytest.mark.django_db(transaction=True)
def test_readers_at_the_same_moment_are_one_fetch(publisher):
    publisher.pause = 0.2
    address = publisher.address("/picture.png")
    with ThreadPoolExecutor(images.MAX_FETCHES) as threads:
        assert list(threads.map(shown, [address] * images.MAX_FETCHES)) == [PICTURE] * images.MAX_FETCHES
    assert publisher.paths == ["/picture.png"]


def test_a_picture_that_cannot_be_shown_is_not_refetched_at_once(client, publisher):
    address = proxied(publisher.address("/missing.png"))
    assert {client.get(address).status_code for _ in range(3)} == {502}
    assert publisher.paths == ["/missing.png"]
    cache.clear()
    client.get(address)
    assert len(publisher.paths) == 2


def test_a_picture_whose_file_was_lost_is_fetched_again(client, publisher):
    address = proxied(publisher.address("/picture.png"))
    client.get(address)
    storages["documents"].delete(path_of(hash_of(PICTURE)))
    assert client.get(address).content == PICTURE
    assert len(publisher.paths) == 2
    assert client.get(address).content == PICTURE
    assert len(publisher.paths) == 2


def test_a_browser_that_has_the_picture_gets_none(client, publisher, django_assert_num_queries):
    address = proxied(publisher.address("/picture.png"))
    etag = client.get(address)["ETag"]
    with django_assert_num_queries(0):
        again = client.get(address, headers={"If-None-Match": etag})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    assert again["Cache-Control"] == "public, max-age=86400, immutable"


def test_a_picture_kept_already_costs_one_query(client, publisher, django_assert_num_queries):
    client.force_login(a_user())
    address = proxied(publisher.address("/picture.png"))
    client.get(address)
    with django_assert_num_queries(1):
        assert client.get(address).content == PICTURE


def test_the_head_of_a_picture_says_its_length(client, publisher):
    answer = client.head(proxied(publisher.address("/picture.png")))
    assert (answer.status_code, answer.content, answer["Content-Length"]) == (200, b"", str(len(PICTURE)))


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_only_get_and_head_are_allowed(client, publisher, method):
    assert getattr(client, method)(proxied(publisher.address("/picture.png"))).status_code == 405
    assert publisher.paths == []


def test_pictures_beyond_the_limit_are_refused_and_cached_ones_still_shown(client, publisher, monkeypatch):
    kept = proxied(publisher.address("/picture.png"))
    client.get(kept)
    monkeypatch.setattr(images, "_slots", BoundedSemaphore(1))
    monkeypatch.setattr(fetching, "WAIT_SECONDS", 0.01)
    with fetching.slot(images._slots):
        answer = client.get(proxied(publisher.address("/other.png")))
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert answer["Cache-Control"] == "no-store"
        assert client.get(kept).content == PICTURE
    assert client.get(proxied(publisher.address("/other.png"))).status_code == 502


@pytest.mark.django_db(transaction=True)
def test_more_pictures_than_places_wait_for_a_moment(publisher):
    publisher.pause = 0.05
    paths = [f"/{number}.png" for number in range(2 * images.MAX_FETCHES)]
    publisher.answers |= {path: ("image/png", PICTURE + path.encode()) for path in paths}
    with ThreadPoolExecutor(len(paths)) as threads:
        assert list(threads.map(shown, [publisher.address(path) for path in paths])) == [
            PICTURE + path.encode() for path in paths
        ]


def test_failures_give_their_places_back(client, publisher, monkeypatch):
    monkeypatch.setattr(images, "_slots", BoundedSemaphore(1))
    for number in range(3):
        assert client.get(proxied(publisher.address(f"/missing{number}.png"))).status_code == 502
    monkeypatch.setattr(images, "picture_in", lambda body: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        client.get(proxied(publisher.address("/picture.png")))
    monkeypatch.undo()
    assert client.get(proxied(publisher.address("/picture.png"))).status_code == 200


def test_a_slow_site_times_out(client, publisher, monkeypatch):
    monkeypatch.setattr(images, "TIMEOUTS", Timeouts(total=0.1, connect=0.1, read=0.1))
    publisher.pause = 0.3
    answer = client.get(proxied(publisher.address("/picture.png")))
    assert (answer.status_code, "timeout" in answer.text) == (502, True)


def test_without_room_pictures_are_shown_and_not_kept(client, publisher, settings):
    settings.PICTURES_PER_DAY = len(PICTURE)
    first, second = (publisher.address(path) for path in ("/picture.png", "/second.png"))
    publisher.answers["/second.png"] = ("image/png", png(2, 2))
    for _ in range(2):
        assert client.get(proxied(first)).content == PICTURE
        assert client.get(proxied(second)).content == png(2, 2)
    assert publisher.paths == ["/picture.png", "/second.png", "/second.png"]
    assert RawDocument.objects.count() == 1


def an_illustrated_posting():
    markup = """<p>Words</p><img src="/1.png?a=1&b=2" srcset="/1.png 1x, /2.png 2x" alt="A cat">
        <video poster="/3.png" src="/4.mp4"></video>"""
    html = clean(markup, base_url="https://pictures.example/").html
    enclosure = {"url": "https://pictures.example/5.mp4", "media_type": "video/mp4", "length": 1, "title": ""}
    given = {"image_url": "https://pictures.example/6.png", "html": html, "enclosures": [enclosure]}
    return a_posting(a_source(listed=True), **given)


THEIRS = [f"https://pictures.example/{name}" for name in ("1.png?a=1&b=2", "6.png", "3.png", "1.png", "2.png")]


def pages(client, posting):
    return [client.get(path) for path in (f"/posting/{posting.pk}/", f"/river/source/{posting.source_id}/?show=all")]


@pytest.mark.parametrize("signed_in", [False, True])
def test_pictures_come_from_the_portal_by_default(client, signed_in):
    posting = an_illustrated_posting()
    if signed_in:
        client.force_login(a_follow(source=posting.source).user)
    whole, river = pages(client, posting)
    assert images_of(whole.text) == [proxied(address) for address in THEIRS]
    assert images_of(river.text) == [proxied(THEIRS[1])]
    for page in (whole, river):
        assert picture_sources(page) == "'self' data:"


def test_pictures_load_directly_if_the_user_chose_so(client):
    posting = an_illustrated_posting()
    client.force_login(a_follow(a_user(images=User.Images.DIRECT), posting.source).user)
    whole, river = pages(client, posting)
    assert images_of(whole.text) == THEIRS
    assert images_of(river.text) == [THEIRS[1]]
    for page in (whole, river):
        assert picture_sources(page) == "'self' data: https: http:"


def test_blocked_pictures_are_links_and_rows_have_none(client):
    posting = an_illustrated_posting()
    client.force_login(a_follow(a_user(images=User.Images.BLOCKED), posting.source).user)
    whole, river = pages(client, posting)
    for page in (whole, river):
        assert images_of(page.text) == []
        assert "has-image" not in page.text
        assert picture_sources(page) == "'self' data:"
    link = '<a href="https://pictures.example/1.png?a=1&amp;b=2" rel="noopener noreferrer nofollow">Picture: A cat</a>'
    assert link in whole.text


def test_the_source_of_pictures_is_a_preference(client):
    user = a_user()
    client.force_login(user)
    assert "their sites do not learn that you read" in client.get(reverse("preferences")).text
    client.post(reverse("preferences"), {"order": "newest", "images": "blocked"})
    user.refresh_from_db()
    assert user.images == User.Images.BLOCKED
