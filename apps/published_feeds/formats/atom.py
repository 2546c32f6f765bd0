"""Atom 1.0 (RFC 4287), entry by entry, so that a long feed is never in memory as a whole."""

from collections.abc import Iterable, Iterator

from apps.published_feeds.formats.feed import Entry, Feed
from apps.published_feeds.formats.xml import template

MEDIA_TYPE = "application/atom+xml"
_HEAD, _ENTRY = (template(f"atom-{part}.xml", beside=__file__) for part in ("head", "entry"))


def write(feed: Feed) -> bytes:
    return b"".join(pieces(feed, feed.entries))


def pieces(feed: Feed, entries: Iterable[Entry]) -> Iterator[bytes]:
    """A feed with these entries instead of its own, one a piece.

    >>> empty = Feed("Starred", "", "urn:x")
    >>> b"".join(pieces(empty, [])).decode().splitlines()[1]
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    """
    yield _HEAD.render(feed=feed).encode()
    for entry in entries:
        yield _ENTRY.render(entry=entry).encode()
    yield b"</feed>\n"
