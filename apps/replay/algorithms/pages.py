"""The web pages of a replayed site: its front page, the pages of its postings, their pictures."""

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from zlib import crc32

from apps.replay.algorithms.addresses import Addresses
from apps.replay.algorithms.feed import Feed, Text
from apps.replay.algorithms.rendering import format_of
from apps.replay.algorithms.timeline import Timeline


def article_page(feed: Feed, posting: int, timeline: Timeline, addresses: Addresses) -> str:
    """The page of one posting, with the text inside an article element between navigation and footer.

    >>> feed = Feed(1, "News", "en", "World", [0.0], [Text("Rain & wind", ("It rains.",))])
    >>> "<h1>Rain &amp; wind</h1>" in article_page(feed, 0, Timeline(0.0, 0.0), Addresses(8700, "ab"))
    True
    """
    text = feed.texts[posting]
    title = escape(text.title)
    published = datetime.fromtimestamp(timeline.real(feed.instants[posting]), UTC)
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


def picture(source: int, posting: int, text: Text) -> str:
    """An SVG picture whose colours follow from the words, so that pages do not all look the same.

    >>> picture(1, 2, Text("Rain", ())).startswith("<svg")
    True
    """
    hue = crc32(text.title.encode("utf-8", "replace")) % 360
    height = 60 + (source * 31 + posting * 17) % 120
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360" width="640" height="360">'
        f'<rect width="640" height="360" fill="hsl({hue} 45% 78%)"/>'
        f'<circle cx="{120 + hue}" cy="{height}" r="46" fill="hsl({(hue + 40) % 360} 70% 62%)"/>'
        f'<path d="M0 {360 - height} Q160 {120 + height} 320 {300 - height} T640 240 V360 H0Z"'
        f' fill="hsl({(hue + 200) % 360} 35% 42%)"/></svg>'
    )


def _page(feed: Feed, title: str, addresses: Addresses, *, body: str, head: str = "") -> str:
    site = addresses.site(feed.number)
    return (
        f'<!doctype html>\n<html lang="{escape(feed.language)}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n{head}"
        f'<link rel="alternate" type="{format_of(feed.number)}" title="{escape(feed.title)}"'
        f' href="{addresses.feed(feed.number)}">\n</head>\n<body>\n'
        f'<header><a href="{site}/">{escape(feed.title)}</a>'
        f' <nav><a href="{site}/">Home</a> <a href="{site}/contact">Contact</a></nav></header>\n'
        f"<main>\n{body}\n</main>\n<footer>{escape(feed.title)}, {escape(feed.category)}</footer>\n</body>\n</html>\n"
    )
