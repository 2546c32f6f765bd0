"""The proxy for audio and video: in parts, within limits, and bypassed only by choice."""

import re
from collections.abc import Iterator

import pytest

from apps.accounts.models import User
from apps.postings.algorithms.markup import clean
from apps.reading.actions import fetching, recordings
from apps.reading.actions.recordings import PART_BYTES
from apps.reading.views import media as views
from apps.web.pages.rows import proxied, proxied_recording
from tests.apps.reading.recordings_server import Publisher, publishing
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
WHOLE = bytes(range(256)) * (PART_BYTES // 256) * 3  # three parts
SHORT = b"ID3" + bytes(500)


@pytest.fixture
def publisher(settings) -> Iterator[Publisher]:
    settings.RETRIEVAL_OPEN_HOSTS = ["media.localhost"]
    with publishing({"/1.mp3": ("audio/mpeg", WHOLE), "/short.mp3": ("audio/mpeg", SHORT)}) as server:
        yield server


def play(client, address, header="bytes=0-"):
    return client.get(proxied_recording(address), headers={"Range": header} if header else {})


# --- parts ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("header", "first", "last"),
    [
        ("bytes=0-", 0, PART_BYTES - 1),
        ("bytes=100-199", 100, 199),
        ("bytes=100-99999999", 100, PART_BYTES + 99),
        (f"bytes={len(WHOLE) - 10}-", len(WHOLE) - 10, len(WHOLE) - 1),
        ("bytes=-20", len(WHOLE) - 20, len(WHOLE) - 1),
        ("bytes=-99999999", len(WHOLE) - PART_BYTES, len(WHOLE) - 1),
    ],
)
def test_a_response_is_cut_to_one_part(client, publisher, header, first, last):
    response = play(client, publisher.address("/1.mp3"), header)
    assert (response.status_code, response["Content-Range"]) == (206, f"bytes {first}-{last}/{len(WHOLE)}")
    assert response.content == WHOLE[first : last + 1]
    assert response["Content-Length"] == str(last + 1 - first)


def test_part_after_part_is_the_whole(client, publisher):
    found = b""
    while len(found) < len(WHOLE):
        found += play(client, publisher.address("/1.mp3"), f"bytes={len(found)}-").content
    assert found == WHOLE
    assert len(publisher.headers) == 3


def test_a_short_recording_comes_whole_without_a_range(client, publisher):
    response = play(client, publisher.address("/short.mp3"), header="")
    assert (response.status_code, response.content, response["Accept-Ranges"]) == (200, SHORT, "bytes")
    assert "Content-Range" not in response


@pytest.mark.parametrize("header", ["", "bytes=5-3", "bytes=0-1,5-6", "items=0-1", f"bytes={len(WHOLE)}-", "bytes=-"])
def test_other_ranges_are_refused(client, publisher, header):
    assert play(client, publisher.address("/1.mp3"), header).status_code == 416


def test_a_server_without_ranges_is_played_if_the_recording_is_short(client, publisher):
    publisher.knows_ranges = False
    response = play(client, publisher.address("/short.mp3"), "bytes=3-")
    assert (response.status_code, response.content) == (206, SHORT[3:])
    assert response["Content-Range"] == f"bytes 3-{len(SHORT) - 1}/{len(SHORT)}"
    refused = play(client, publisher.address("/1.mp3"))
    assert (refused.status_code, "as a whole only" in refused.text) == (502, True)


# --- safety -----------------------------------------------------------------------------------------------------------
def test_the_publisher_learns_nothing_of_the_reader(client, publisher):
    client.force_login(a_user())
    headers = {
        "Referer": "http://testserver/",
        "User-Agent": "own",
        "X-Forwarded-For": "203.0.113.9",
        "Range": "bytes=0-",
    }
    client.get(proxied_recording(publisher.address("/1.mp3")), headers=headers)
    [sent] = publisher.headers
    assert sent.keys() <= {"host", "accept", "accept-encoding", "connection", "user-agent", "range"}
    assert sent["user-agent"].startswith("Wirebeat/")


def test_a_proxied_recording_cannot_run_or_set_anything(client, publisher):
    response = play(client, publisher.address("/1.mp3"))
    assert response["Content-Type"] == "audio/mpeg"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, max-age=3600"
    assert "Set-Cookie" not in response


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/javascript", "audio/x<script>", ""])
def test_only_audio_and_video_is_played(client, publisher, media_type):
    publisher.files["/page"] = (media_type, b"<script>publisher</script>")
    response = play(client, publisher.address("/page"))
    assert (response.status_code, response["Content-Type"]) == (502, "text/plain; charset=utf-8")
    assert "publisher" not in response.text


def test_a_type_that_says_nothing_is_read_from_the_address(client, publisher):
    publisher.files["/2.mp4"] = ("application/octet-stream", SHORT)
    assert play(client, publisher.address("/2.mp4"))["Content-Type"] == "video/mp4"


@pytest.mark.parametrize("path", ["/missing.mp3", "/moved.mp3"])
def test_a_failed_fetch_is_answered_without_words_of_the_publisher(client, publisher, path):
    response = play(client, publisher.address(path))
    assert response.status_code == 502
    assert "publisher" not in response.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_private_addresses_are_not_reached(client, publisher, host):
    assert play(client, publisher.address("/1.mp3", host)).status_code == 502
    assert publisher.headers == []


def test_a_part_that_is_not_what_it_says_is_refused(client, publisher):
    publisher.wrong_range = True
    assert play(client, publisher.address("/1.mp3")).status_code == 502


def test_only_addresses_signed_as_recordings_are_fetched(client, publisher):
    address = publisher.address("/1.mp3")
    as_picture = proxied(address).replace("/image/", "/recording/")
    for unsigned in (as_picture, proxied_recording(address) + "AAAA", "/recording/x/" + proxied(address).split("/")[3]):
        assert client.get(unsigned, headers={"Range": "bytes=0-"}).status_code == 404
    assert publisher.headers == []


def test_an_address_plays_so_much_an_hour(client, publisher, monkeypatch):
    monkeypatch.setattr(views, "MAX_PARTS", 2)
    statuses = [play(client, publisher.address("/short.mp3")).status_code for _ in range(3)]
    assert statuses == [206, 206, 429]
    elsewhere = client.get(
        proxied_recording(publisher.address("/short.mp3")), headers={"Range": "bytes=0-"}, REMOTE_ADDR="10.0.0.2"
    )
    assert elsewhere.status_code == 206


def test_only_so_many_are_fetched_at_a_time(client, publisher, monkeypatch):
    monkeypatch.setattr(fetching, "WAIT_SECONDS", 0.01)
    for _ in range(recordings.MAX_FETCHES):
        recordings._slots.acquire()
    try:
        response = play(client, publisher.address("/short.mp3"))
        assert (response.status_code, response["Retry-After"]) == (503, "5")
    finally:
        recordings._slots.release(recordings.MAX_FETCHES)
    assert play(client, publisher.address("/short.mp3")).status_code == 206


# --- pages ------------------------------------------------------------------------------------------------------------
ENCLOSED, INSIDE = "https://media.example/5.mp3", ("https://media.example/1.mp4", "https://media.example/2.ogg")


def a_playing_posting():
    markup = '<p>Words</p><video src="/1.mp4"></video><audio><source src="/2.ogg" type="audio/ogg"></audio>'
    html = clean(markup, base_url="https://media.example/").html
    enclosure = {"url": ENCLOSED, "media_type": "audio/mpeg", "length": 1, "title": ""}
    return a_posting(a_source(listed=True), html=html, enclosures=[enclosure])


def players(page: str) -> set[str]:
    return set(re.findall(r'<(?:audio|video|source)\b[^>]* src="([^"]*)"', page))


def policy(page) -> str:
    return re.search(r"media-src ([^;]*)", page["Content-Security-Policy"])[1].strip()


@pytest.mark.parametrize("images", [None, User.Images.PROXIED, User.Images.BLOCKED])
def test_players_load_through_the_portal(client, images):
    posting = a_playing_posting()
    if images:
        client.force_login(a_follow(a_user(images=images), posting.source).user)
    page = client.get(f"/posting/{posting.pk}/")
    assert players(page.text) == {proxied_recording(address) for address in (ENCLOSED, *INSIDE)}
    assert policy(page) == "'self'"
    assert f'href="{ENCLOSED}"' in page.text  # to open it at its site is the reader's own step


def test_players_load_directly_if_the_user_chose_so(client):
    posting = a_playing_posting()
    client.force_login(a_follow(a_user(images=User.Images.DIRECT), posting.source).user)
    page = client.get(f"/posting/{posting.pk}/")
    assert players(page.text) == {ENCLOSED, *INSIDE}
    assert policy(page) == "'self' https: http:"


@pytest.mark.parametrize("address", ["/", "/river/", "/trends/", "/accounts/login/", "/no/such/page/"])
def test_no_page_loads_media_from_elsewhere_by_default(client, address):
    client.force_login(a_user())
    assert policy(client.get(address, follow=True)) == "'self'"
