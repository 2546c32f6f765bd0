"""Postings as RSS 2.0, Atom 1.0 or JSON Feed 1.1, as different sites would write them."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.timeline import Timeline

# XML 1.0 has no way to write these characters.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Format(StrEnum):
    RSS = "application/rss+xml"
    ATOM = "application/atom+xml"
    JSON = "application/feed+json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A posting as an entry of a feed."""

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


def guid_of(source: int, posting: int, addresses: Addresses) -> str:
    """The identifier a source gives a posting: its address, an opaque word, or (RSS only) none at all.

    >>> [guid_of(source, 4, Addresses(8700, "ab")) for source in (0, 1, 2)]
    ['http://s0.replay.localhost:8700/0/item/ab-4', 'posting-ab-1-4', '']
    """
    if source % 3 == 0:
        return addresses.article(source, posting)
    if source % 3 == 2 and format_of(source) is Format.RSS:
        return ""
    return f"posting-{addresses.run}-{source}-{posting}"


def make_entry(feed: Feed, posting: int, timeline: Timeline, addresses: Addresses) -> Entry:
    """The entry of the posting at a position of a feed."""
    text = feed.texts[posting]
    title = _UNWRITABLE.sub("", text.title)
    paragraphs = [_UNWRITABLE.sub("", paragraph) for paragraph in text.paragraphs]
    picture = f"<p><img src={quoteattr(addresses.picture(feed.number, posting))} alt={quoteattr(title)}></p>\n"
    content = picture + "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in paragraphs)
    return Entry(
        guid=guid_of(feed.number, posting, addresses),
        link=addresses.article(feed.number, posting),
        title=title,
        summary=paragraphs[0] if paragraphs else "",
        content=content if _shows_content(feed.number) else "",
        category=feed.category,
        published=timeline.real(feed.times[posting]),
    )


def render(feed: Feed, first: int, count: int, timeline: Timeline, addresses: Addresses) -> bytes:
    """The feed with its postings [first, count), newest first, in the format of its source.

    >>> from lab.worlds.feed import Text
    >>> feed = Feed(1, "News", "en", "World", [0.0], [Text("Rain & wind", ())])
    >>> b"<title>Rain &amp; wind</title>" in render(feed, 0, 1, Timeline(0.0, 0.0), Addresses(8700, "ab"))
    True
    """
    entries = [make_entry(feed, posting, timeline, addresses) for posting in reversed(range(first, count))]
    write = {Format.RSS: _write_rss, Format.ATOM: _write_atom, Format.JSON: _write_json}[format_of(feed.number)]
    return write(feed, entries, addresses).encode()


def _shows_content(source: int) -> bool:
    return source % 4 != 3


def _write_rss(feed: Feed, entries: Sequence[Entry], addresses: Addresses) -> str:
    items = "".join(_rss_item(entry) for entry in entries)
    built = f"<lastBuildDate>{_rfc822(entries[0].published)}</lastBuildDate>" if entries else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        ' xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>\n'
        f"<title>{escape(feed.title)}</title>\n<link>{addresses.site(feed.number)}/</link>\n"
        f"<description>{escape(feed.category)}</description>\n<language>{escape(feed.language)}</language>\n"
        f'<atom:link href="{addresses.feed(feed.number)}" rel="self" type="{Format.RSS}"/>\n'
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


def _write_atom(feed: Feed, entries: Sequence[Entry], addresses: Addresses) -> str:
    updated = _rfc3339(entries[0].published if entries else 0.0)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang={quoteattr(feed.language)}>\n'
        f"<id>{addresses.site(feed.number)}/</id>\n<title>{escape(feed.title)}</title>\n<updated>{updated}</updated>\n"
        f"<author><name>{escape(feed.title)}</name></author>\n"
        f'<link rel="alternate" type="text/html" href="{addresses.site(feed.number)}/"/>\n'
        f'<link rel="self" href="{addresses.feed(feed.number)}"/>\n'
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


def _write_json(feed: Feed, entries: Sequence[Entry], addresses: Addresses) -> str:
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
        "home_page_url": f"{addresses.site(feed.number)}/",
        "feed_url": addresses.feed(feed.number),
        "language": feed.language,
    }
    return json.dumps({**head, "items": items}, ensure_ascii=False)


def _rfc822(time: float) -> str:
    return format_datetime(datetime.fromtimestamp(int(time), UTC))


def _rfc3339(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
