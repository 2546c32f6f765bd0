"""The web pages of a replayed site: its front page, the pages of its postings, their pictures."""

import random
import struct
from collections.abc import Iterable, Sequence
from colorsys import hls_to_rgb
from datetime import UTC, datetime
from html import escape
from zlib import compress, crc32

import numpy as np

from lab.worlds.addresses import ICON, Addresses
from lab.worlds.feed import Feed, Text
from lab.worlds.rendering import format_of
from lab.worlds.timeline import Timeline

_WIDTH, _HEIGHT, _SUN = 640, 360, 34  # of a picture, and how far its sun reaches, in pixels
_SHADES, _HILLS = 48, 3  # colours of the sky, and hills in front of it
_ICON_CELLS, _CELL = 5, 12  # cells of an icon's side, pixels of a cell's


def article_page(feed: Feed, posting: int, timeline: Timeline, addresses: Addresses) -> str:
    """The page of one posting, with the text inside an article element between navigation and footer.

    >>> feed = Feed(1, "News", "en", "World", [0.0], [Text("Rain & wind", ("It rains.",))])
    >>> "<h1>Rain &amp; wind</h1>" in article_page(feed, 0, Timeline(0.0, 0.0), Addresses(8700, "ab"))
    True
    """
    text = feed.texts[posting]
    title = escape(text.title)
    published = datetime.fromtimestamp(timeline.real(feed.times[posting]), UTC)
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.paragraphs)
    summary = escape(text.paragraphs[0] if text.paragraphs else text.title)
    picture = addresses.picture(feed.number, posting)
    return _page(
        feed,
        title,
        addresses,
        head=(
            f'<meta name="description" content="{summary}">\n<meta property="og:type" content="article">\n'
            f'<meta property="og:title" content="{title}">\n<meta property="og:image" content="{picture}">\n'
            f'<link rel="canonical" href="{addresses.article(feed.number, posting)}">\n'
        ),
        body=(
            f'<article>\n<h1>{title}</h1>\n<p><time datetime="{published.isoformat()}">{published:%d %b %Y, %H:%M}'
            f' UTC</time></p>\n<img src="{picture}" alt="" width="640" height="360">\n{paragraphs}\n</article>'
        ),
    )


def front_page(feed: Feed, newest: Iterable[int], addresses: Addresses) -> str:
    """A source's front page: links to some postings, and its feed for autodiscovery."""
    links = "\n".join(
        f'<li><a href="{addresses.article(feed.number, posting)}">{escape(feed.texts[posting].title)}</a></li>'
        for posting in newest
    )
    return _page(feed, escape(feed.title), addresses, body=f"<h1>{escape(feed.title)}</h1>\n<ul>\n{links}\n</ul>")


def directory_page(feeds: Iterable[Feed], addresses: Addresses) -> str:
    """The page of the server itself: all (or the first) sites it plays."""
    links = "\n".join(f'<li><a href="{addresses.site(feed.number)}/">{escape(feed.title)}</a></li>' for feed in feeds)
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Replayed sites</title></head>\n'
        f"<body>\n<h1>Replayed sites</h1>\n<ul>\n{links}\n</ul>\n</body>\n</html>\n"
    )


def picture(source: int, posting: int, text: Text) -> bytes:
    """A PNG picture whose colours follow from the words, so that pages differ.

    No SVG: the portal, like many other readers, does not show it.

    >>> picture(1, 2, Text("Rain", ())).startswith(b"\\x89PNG")
    True
    """
    drawn = random.Random(text.title.encode("utf-8", "replace") + b" %d %d" % (source, posting))
    hue = drawn.random()
    sky = [hls_to_rgb(hue + 0.09 * step, 0.62 + 0.28 * step, 0.45) for step in np.linspace(0, 1, _SHADES)]
    hills = [hls_to_rgb(hue + 0.45 + 0.04 * hill, 0.5 - 0.13 * hill, 0.3) for hill in range(_HILLS)]
    palette = bytes(
        round(255 * part) for colour in (*sky, hls_to_rgb(hue + 0.12, 0.93, 0.8), *hills) for part in colour
    )
    down, across = np.mgrid[0:_HEIGHT, 0:_WIDTH]
    drawing = down * _SHADES // _HEIGHT
    drawing[np.hypot(across - drawn.uniform(120, 520), down - drawn.uniform(70, 160)) < _SUN] = _SHADES
    for hill in range(_HILLS):
        wave = np.sin(across / drawn.uniform(70, 150) + drawn.uniform(0, 6)) + np.sin(across / drawn.uniform(30, 60))
        drawing[down > 195 + 50 * hill + 16 * wave] = _SHADES + 1 + hill
    return _png(_WIDTH, palette, [bytes([0, *row]) for row in drawing.astype(np.uint8)])


def icon(source: int) -> bytes:
    """A PNG icon of a site: a pattern of its own, the same on both sides, on a colour of its own.

    >>> icon(1)[1:4], icon(1) == icon(1), icon(1) == icon(2)
    (b'PNG', True, False)
    """
    drawn = crc32(f"icon {source}".encode())
    ground, pattern = (hls_to_rgb(source * 0.618 % 1, lightness, 0.5) for lightness in (0.4, 0.93))
    palette = bytes(round(255 * part) for colour in (ground, pattern) for part in colour)
    rows = []
    for line in range(_ICON_CELLS):
        half = [drawn >> (3 * line + column) & 1 for column in range(3)]
        cells = bytes(cell for cell in [*half, *half[1::-1]] for _ in range(_CELL))
        rows += [bytes(_CELL // 2) + cells + bytes(_CELL // 2)] * _CELL
    margin = [bytes(len(rows[0]))] * (_CELL // 2)
    return _png(len(rows[0]), palette, [b"\0" + row for row in (*margin, *rows, *margin)])


def _png(width: int, palette: bytes, rows: Sequence[bytes]) -> bytes:
    """A picture of rows with a byte a pixel, which names a colour; the byte before says that a row is not filtered."""
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", compress(b"".join(rows), 1)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc32(kind + body))


def _page(feed: Feed, title: str, addresses: Addresses, *, body: str, head: str = "") -> str:
    site = addresses.site(feed.number)
    return (
        f'<!doctype html>\n<html lang="{escape(feed.language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<title>{title}</title>\n{head}<link rel="icon" type="image/png" href="{ICON}">\n'
        f'<link rel="alternate" type="{format_of(feed.number)}" title="{escape(feed.title)}"'
        f' href="{addresses.feed(feed.number)}">\n</head>\n<body>\n'
        f'<header><a href="{site}/">{escape(feed.title)}</a>'
        f' <nav><a href="{site}/">Home</a> <a href="{site}/contact">Contact</a></nav></header>\n'
        f"<main>\n{body}\n</main>\n<footer>{escape(feed.title)}, {escape(feed.category)}</footer>\n</body>\n</html>\n"
    )
