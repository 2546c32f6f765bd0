"""Icons of sources: which candidate wins, which pictures are refused, and when an icon is looked for."""

import struct
import zlib
from base64 import b64decode
from datetime import timedelta
from io import BytesIO
from threading import Event

import pytest
from django.utils import timezone
from PIL import Image, ImageDraw

from apps.database.time_limits import stopping
from apps.retrieval import queries, sandbox, tasks
from apps.retrieval.algorithms.icons import MAX_BYTES, SIZE, small_icon
from apps.retrieval.models import Schedule
from apps.sources.actions.icons import LEASE, begin_icon_searches, finish_icon_search, prune_icons
from apps.sources.models import Icon, Source
from tests.builders import a_schedule, a_source
from tests.web import HTML, serving_pages

NOW = timezone.now()
PNG = "image/png"


def a_picture(kind: str = "PNG", color: str = "#c0392b", size: tuple[int, int] = (96, 96), **options) -> bytes:
    picture = Image.new("RGBA" if kind in {"PNG", "WEBP", "ICO"} else "RGB", size, color)
    ImageDraw.Draw(picture).ellipse((size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2), fill="#2ecc71")
    content = BytesIO()
    picture.save(content, kind, **options)
    return content.getvalue()


def color_of(png: bytes) -> str:
    """That of the first pixel, among the colours of the tests."""
    red, green, blue, _ = Image.open(BytesIO(png)).convert("RGBA").getpixel((1, 1))
    return f"#{red:02x}{green:02x}{blue:02x}"


# --- decoding ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, {}) for kind in ("PNG", "GIF", "WEBP", "BMP", "JPEG")),
        ("ICO", {"sizes": [(16, 16), (32, 32), (96, 96)]}),
    ],
)
def test_pictures_become_small_pngs_in_the_sandbox(kind, options):
    png = b64decode(sandbox.run(small_icon, a_picture(kind, **options)))
    assert Image.open(BytesIO(png)).size == (SIZE, SIZE)
    assert len(png) <= MAX_BYTES


def test_same_picture_becomes_the_same_bytes():
    plain = a_picture()
    commented = plain[:33] + a_chunk(b"tEXt", b"Comment\0Different") + plain[33:]
    assert small_icon(plain) == small_icon(commented)


@pytest.mark.parametrize(("color", "plate"), [("#000000", "#ffffff"), ("#ffffff", "#3a3f47")])
def test_icon_that_would_vanish_on_some_pages_gets_a_plate(color, plate):
    picture = Image.new("RGBA", (64, 64))
    ImageDraw.Draw(picture).ellipse((8, 8, 56, 56), fill=color)
    content = BytesIO()
    picture.save(content, "PNG")
    png = b64decode(small_icon(content.getvalue()))
    assert color_of(png) == plate


def a_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def a_bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that declares this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + a_chunk(b"IHDR", header) + a_chunk(b"IDAT", zlib.compress(bytes(10**7)))


def a_drawing(side: int) -> bytes:
    """A valid PNG in black and white."""
    picture = Image.new("1", (side, side))
    ImageDraw.Draw(picture).rectangle((0, 0, side // 2, side // 2), fill=1)
    content = BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def in_icon(png: bytes) -> bytes:
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 64, 64, 0, 0, 1, 32, len(png), 22) + png


HUGE_CANVAS = b"VP8X" + struct.pack("<I", 10) + b"\2\0\0\0\xff\x3f\0\xff\x3f\0"
HOSTILE = {
    "bomb": a_bomb(30_000, 30_000),
    "whole bomb": a_drawing(5_000),  # of some kilobytes
    "bomb in an icon": in_icon(a_bomb(30_000, 30_000)),
    "huge GIF": b"GIF89a" + struct.pack("<HH", 65_000, 65_000) + a_picture("GIF")[10:],
    "huge WebP": b"RIFF" + struct.pack("<I", 4 + len(HUGE_CANVAS)) + b"WEBP" + HUGE_CANVAS,
    "truncated JPEG": a_picture("JPEG")[:600],
    "truncated PNG": a_picture()[:100],
    "tracker": a_picture(size=(4, 4)),
    "banner": a_picture(size=(600, 100)),
    "SVG": b"<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'><script/></svg>",
    "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n",
    "page": b"<html><title>404</title>",
    "nothing": b"",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pictures_are_refused_and_the_child_stays(body):
    def children() -> set[int]:
        return {child.pid for child in sandbox._idle}

    sandbox.run(small_icon, a_picture())
    before = children()
    with pytest.raises(ValueError, match="It is no icon"):
        sandbox.run(small_icon, body)
    assert children() == before


def test_pictures_of_one_color_or_none_are_blank():
    for color in ("#ffffff", "#00000000"):
        content = BytesIO()
        Image.new("RGBA", (64, 64), color).save(content, "PNG")
        with pytest.raises(ValueError, match="blank"):
            small_icon(content.getvalue())


# --- when -------------------------------------------------------------------------------------------------------------
def a_retrieved_source(**values) -> Source:
    source = a_source(**values)
    Source.objects.filter(pk=source.pk).update(icon_due_at=NOW - timedelta(hours=1))
    a_schedule(source, observed_at=NOW, due_at=NOW + timedelta(hours=40))
    return source


def due(at=NOW) -> set[int]:
    return {id for _, source_ids in queries.due_icons(at) for id in source_ids}


def begin(source: Source, at=NOW) -> Source:
    [claimed] = begin_icon_searches([source.pk], now=at)
    return claimed


@pytest.mark.django_db
def test_only_active_retrieved_sources_are_due():
    source = a_retrieved_source()
    a_retrieved_source(state=Source.State.GONE)
    a_schedule(a_source())  # never retrieved
    assert due() == {source.pk}


@pytest.mark.django_db
def test_no_search_begins_shortly_before_a_check():
    source = a_retrieved_source()
    Schedule.objects.update(due_at=NOW + timedelta(seconds=30))
    assert due() == set()
    Schedule.objects.update(due_at=NOW + timedelta(seconds=90))
    assert due() == {source.pk}


@pytest.mark.django_db
def test_a_site_with_many_feeds_does_not_fill_a_round():
    for number in range(12):
        a_retrieved_source(url=f"https://one.example/{number}")
    assert len(due()) == queries.ICONS_AT_ONCE


@pytest.mark.django_db
def test_search_is_claimed_once_and_again_after_its_lease():
    source = a_retrieved_source()
    assert begin(source) == source
    assert begin_icon_searches([source.pk], now=NOW) == []
    assert due() == set()
    assert due(NOW + LEASE) == {source.pk}


@pytest.mark.django_db
def test_search_backs_off_and_a_failed_refresh_keeps_the_icon():
    source, waits, at = a_retrieved_source(), [], NOW
    for png in (b"", b"", b"", b"icon", b"", b""):
        finish_icon_search(begin(source, at), png, now=at)
        source.refresh_from_db()
        waits.append((source.icon_due_at - at) / timedelta(hours=1))
        at = source.icon_due_at
    assert waits[:3] == [6, 12, 24]
    assert 25 * 24 <= waits[3] <= 35 * 24
    assert waits[4:] == [6, 12]
    assert bytes(source.icon.png) == b"icon"


@pytest.mark.django_db
def test_equal_icons_are_stored_once_and_unused_ones_are_pruned():
    sources = [a_retrieved_source() for _ in range(3)]
    for source, png in zip(sources, (b"one", b"one", b"two"), strict=True):
        finish_icon_search(begin(source), png, now=NOW)
    assert Icon.objects.count() == 2
    sources[2].delete()
    assert prune_icons() == 1
    assert {bytes(icon.png) for icon in Icon.objects.all()} == {b"one"}


# --- where ------------------------------------------------------------------------------------------------------------
def a_head(*links: str) -> tuple[str, bytes]:
    return HTML, f"<html><head>{''.join(links)}</head><body>News".encode()


MANIFEST = ("application/manifest+json", b'{"icons": [{"src": "/m.png", "sizes": "192x192"}]}')
SITES = {
    "feed": {"/feed.png": "#c0392b", "/": a_head("<link rel=icon href=/icon.png>"), "/icon.png": "#2980b9"},
    "page": {
        "/feed.png": (PNG, a_picture(size=(400, 60))),  # a banner
        "/": a_head("<link rel=icon href=/no.png><link rel=apple-touch-icon href=/c.png>"),
        "/c.png": "#c0392b",
        "/favicon.ico": "#2980b9",
    },
    "manifest": {
        "/": a_head("<link rel=icon href=/a.svg><link rel=manifest href=/m.json>"),
        "/m.json": MANIFEST,
        "/m.png": "#c0392b",
        "/favicon.ico": "#2980b9",
    },
    "favicon": {
        "/": a_head("<link rel=icon href=/a.png>"),
        "/a.png": (PNG, HOSTILE["bomb"]),
        "/favicon.ico": "#c0392b",
    },
    "favicon without a page": {"/favicon.ico": "#c0392b"},
}


def served(pages) -> dict[str, tuple[str, bytes]]:
    return {path: (PNG, a_picture(color=page)) if isinstance(page, str) else page for path, page in pages.items()}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("pages", SITES.values(), ids=SITES)
def test_the_first_usable_candidate_wins(engine, pages):
    with serving_pages(served(pages)) as web:
        image_url = web.url("/feed.png") if "/feed.png" in pages else ""
        source = a_retrieved_source(url=web.url("/feed"), site_url=web.url("/"), image_url=image_url)
        engine.find_icons(due())
    source.refresh_from_db()
    assert color_of(bytes(source.icon.png)) == "#c0392b"
    assert due() == set()


@pytest.mark.django_db(transaction=True)
def test_one_message_serves_a_site_with_many_feeds(engine):
    with serving_pages(served({"/favicon.ico": "#c0392b"})) as web:
        sources = [a_retrieved_source(url=web.url(f"/{number}")) for number in range(queries.ICONS_AT_ONCE + 2)]
        tasks.find_icons("retrieval")
    assert Source.objects.exclude(icon=None).count() == len(sources)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_stops_waits_for_no_site(engine):
    class Silent(dict):
        def get(self, *_):
            stopping.set()
            released.wait()
            return HTML, b""

    released = Event()
    with serving_pages() as web:
        web.pages = Silent()
        source = a_retrieved_source(url=web.url("/feed"))
        try:
            engine.find_icons([source.pk])
        finally:
            stopping.clear()
            released.set()
    source.refresh_from_db()
    assert source.icon_failures == 0  # it was not waited for


@pytest.mark.django_db(transaction=True)
def test_robots_txt_is_respected_and_nothing_is_requested_twice(engine):
    pages = served({"/": a_head("<link rel=icon href=/private/a.png><link rel=icon href=/private/a.png>")})
    pages["/robots.txt"] = ("text/plain", b"User-agent: *\nDisallow: /private/")
    with serving_pages(pages | served({"/private/a.png": "#c0392b"})) as web:
        source = a_retrieved_source(url=web.url("/feed"))
        engine.find_icons(due())
        engine.find_icons([source.pk])  # a message that arrives twice
        assert web.requested_paths == ["/robots.txt", "/", "/favicon.ico"]
    source.refresh_from_db()
    assert (source.icon, source.icon_failures) == (None, 1)
