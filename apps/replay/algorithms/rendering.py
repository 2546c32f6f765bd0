"""Postings as RSS 2.0, Atom 1.0 or JSON Feed 1.1, as different sites would write them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from apps.replay.algorithms.addresses import article_of, feed_of, picture_of, site_of
from apps.replay.algorithms.feed import Feed
from apps.replay.algorithms.timeline import Timeline

# XML 1.0 has no way to write these characters.
_WHITE = {0x09, 0x0A, 0x0D}
_UNWRITABLE = dict.fromkeys({*range(0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF} - _WHITE)


class Format(StrEnum):
    RSS = "application/rss+xml"
    ATOM = "application/atom+xml"
    JSON = "application/feed+json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A posting as it stands in a feed."""

    guid: str  # "" where the site writes none and the link is all there is
    link: str
    title: str
    summary: str  # plain text
    content: str  # HTML, "" where the site shows summaries only
    category: str
    published: float  # real seconds since 1970


def format_of(source: int) -> Format:
    """The format a source writes: six of ten RSS, three Atom, one JSON Feed.

    >>> [format_of(source).name for source in (0, 6, 9)]
    ['RSS', 'ATOM', 'JSON']
    """
    return (Format.RSS, Format.ATOM, Format.JSON)[(source % 10 >= 6) + (source % 10 == 9)]


def guid_of(source: int, posting: int, port: int) -> str:
    """The identifier a source gives a posting: its address, an opaque word, or (RSS only) none at all.

    >>> guid_of(0, 4, 8700), guid_of(1, 4, 8700), guid_of(2, 4, 8700)
    ('http://s0.replay.localhost:8700/0/item/4', 'posting-1-4', '')
    """
    if source % 3 == 0:
        return article_of(source, posting, port)
    if source % 3 == 2 and format_of(source) is Format.RSS:
        return ""
    return f"posting-{source}-{posting}"


def make_entry(feed: Feed, posting: int, timeline: Timeline, port: int) -> Entry:
    """The entry of the posting at a position of a feed."""
    text = feed.texts[posting]
    title = text.title.translate(_UNWRITABLE)
    paragraphs = [paragraph.translate(_UNWRITABLE) for paragraph in text.paragraphs]
    picture = f"<p><img src={quoteattr(picture_of(feed.number, posting, port))} alt={quoteattr(title)}></p>\n"
    content = picture + "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in paragraphs)
    return Entry(
        guid=guid_of(feed.number, posting, port),
        link=article_of(feed.number, posting, port),
        title=title,
        summary=paragraphs[0] if paragraphs else "",
        content=content if _shows_content(feed.number) else "",
        category=feed.category,
        published=timeline.real(feed.instants[posting]),
    )


def render(feed: Feed, first: int, count: int, timeline: Timeline, port: int) -> bytes:
    """The feed with its postings [first, count), newest first, in the format of its source.

    >>> from apps.replay.algorithms.feed import Text
    >>> feed = Feed(1, "News", "en", "World", [0.0], [Text("Rain & wind", ())])
    >>> b"<title>Rain &amp; wind</title>" in render(feed, 0, 1, Timeline(0.0, 0.0), 8700)
    True
    """
    entries = [make_entry(feed, posting, timeline, port) for posting in reversed(range(first, count))]
    write = {Format.RSS: _write_rss, Format.ATOM: _write_atom, Format.JSON: _write_json}[format_of(feed.number)]
    return write(feed, entries, port).encode()


def _shows_content(source: int) -> bool:
    return source % 4 != 3


def _write_rss(feed: Feed, entries: Sequence[Entry], port: int) -> str:
    items = "".join(_rss_item(entry) for entry in entries)
    built = f"<lastBuildDate>{_rfc822(entries[0].published)}</lastBuildDate>" if entries else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        ' xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>\n'
        f"<title>{escape(feed.title)}</title>\n<link>{site_of(feed.number, port)}/</link>\n"
        f"<description>{escape(feed.category)}</description>\n<language>{escape(feed.language)}</language>\n"
        f'<atom:link href="{feed_of(feed.number, port)}" rel="self" type="{Format.RSS}"/>\n'
        f"{built}\n{items}</channel>\n</rss>\n"
    )


def _rss_item(entry: Entry) -> str:
    permanent = "true" if entry.guid == entry.link else "false"
    guid = f'<guid isPermaLink="{permanent}">{entry.guid}</guid>\n' if entry.guid else ""
    content = f"<content:encoded>{escape(entry.content)}</content:encoded>\n" if entry.content else ""
    return (
        f"<item>\n<title>{escape(entry.title)}</title>\n<link>{entry.link}</link>\n{guid}"
        f"<pubDate>{_rfc822(entry.published)}</pubDate>\n<category>{escape(entry.category)}</category>\n"
        f"<description>{escape(entry.summary)}</description>\n{content}</item>\n"
    )


def _write_atom(feed: Feed, entries: Sequence[Entry], port: int) -> str:
    updated = _rfc3339(entries[0].published if entries else 0.0)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang={quoteattr(feed.language)}>\n"
        f"<id>{site_of(feed.number, port)}/</id>\n<title>{escape(feed.title)}</title>\n<updated>{updated}</updated>\n"
        f"<author><name>{escape(feed.title)}</name></author>\n"
        f'<link rel="alternate" type="text/html" href="{site_of(feed.number, port)}/"/>\n'
        f'<link rel="self" href="{feed_of(feed.number, port)}"/>\n'
        f"{''.join(_atom_entry(entry) for entry in entries)}</feed>\n"
    )


def _atom_entry(entry: Entry) -> str:
    content = f'<content type="html">{escape(entry.content)}</content>\n' if entry.content else ""
    published = _rfc3339(entry.published)
    return (
        f"<entry>\n<id>{entry.guid}</id>\n<title>{escape(entry.title)}</title>\n"
        f'<link rel="alternate" href="{entry.link}"/>\n<published>{published}</published>\n'
        f"<updated>{published}</updated>\n<category term={quoteattr(entry.category)}/>\n"
        f"<summary>{escape(entry.summary)}</summary>\n{content}</entry>\n"
    )


def _write_json(feed: Feed, entries: Sequence[Entry], port: int) -> str:
    items = [
        {
            "id": entry.guid,
            "url": entry.link,
            "title": entry.title,
            "date_published": _rfc3339(entry.published),
            "tags": [entry.category],
            "summary": entry.summary,
            **({"content_html": entry.content} if entry.content else {"content_text": entry.summary}),
        }
        for entry in entries
    ]
    head = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": f"{site_of(feed.number, port)}/",
        "feed_url": feed_of(feed.number, port),
        "language": feed.language,
    }
    return json.dumps({**head, "items": items}, ensure_ascii=False)


def _rfc822(instant: float) -> str:
    return format_datetime(datetime.fromtimestamp(int(instant), UTC))


def _rfc3339(instant: float) -> str:
    return datetime.fromtimestamp(instant, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
