"""RSS 2.0: https://www.rssboard.org/rss-specification."""

from email.utils import format_datetime

from lxml import etree

from apps.published_feeds.formats.feed import Entry, Feed
from apps.published_feeds.formats.xml import add, element
from apps.sources.formats.text import without_controls

MEDIA_TYPE = "application/rss+xml"
TTL_MINUTES = 30
_ATOM = "http://www.w3.org/2005/Atom"
_DC = "http://purl.org/dc/elements/1.1/"
_NAMESPACES = {"atom": _ATOM, "dc": _DC}


def write(feed: Feed) -> bytes:
    root = element("rss", "", _NAMESPACES, version="2.0")
    channel = add(root, "channel")
    add(channel, "title", feed.title)
    add(channel, "link", feed.home)
    add(channel, "description", feed.description or feed.title)
    if feed.language:
        add(channel, "language", feed.language)
    add(channel, "lastBuildDate", format_datetime(feed.updated))
    add(channel, "ttl", str(TTL_MINUTES))
    add(channel, f"{{{_ATOM}}}link", rel="self", type=MEDIA_TYPE, href=feed.address)
    for hub in feed.hubs:
        add(channel, f"{{{_ATOM}}}link", rel="hub", href=hub)
    for entry in feed.entries:
        _add_item(channel, entry)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def _add_item(channel: etree._Element, entry: Entry) -> None:
    item = add(channel, "item")
    add(item, "title", entry.title)
    if entry.url:
        add(item, "link", entry.url)
    add(item, "guid", entry.id, isPermaLink="false")
    add(item, "pubDate", format_datetime(entry.published))
    if author := entry.author or entry.source_title:
        add(item, f"{{{_DC}}}creator", author)
    for category in filter(without_controls, entry.categories):
        add(item, "category", category)
    add(item, "description", entry.html)
    for enclosure in entry.enclosures[:1]:  # of several, readers keep an arbitrary one
        kind = enclosure.media_type or "application/octet-stream"
        add(item, "enclosure", url=enclosure.url, type=kind, length=str(enclosure.length or 0))
    if entry.source_url:
        add(item, "source", entry.source_title, url=entry.source_url)
