"""The content of a feed, independent of its format."""

from datetime import UTC, datetime
from typing import NamedTuple

from apps.sources.formats.feed import Enclosure

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Entry(NamedTuple):
    id: str  # stable while the entry is in the feed
    url: str  # of its page, "" if it has none
    title: str
    html: str  # sanitized
    published: datetime
    updated: datetime  # when its words last changed
    listed: datetime  # when it was added to this feed, or last changed
    author: str = ""
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    language: str = ""
    image: str = ""  # address
    source_title: str = ""
    source_url: str = ""  # of the source's site, never the address of its feed, which may be secret


class Feed(NamedTuple):
    title: str
    home: str  # address of the page that shows the same to people
    address: str = ""  # its own
    entries: tuple[Entry, ...] = ()
    id: str = ""  # its own address, unless it has another name
    description: str = ""
    since: datetime = LONG_AGO  # creation of the list

    @property
    def updated(self) -> datetime:
        return max((entry.listed for entry in self.entries), default=self.since)
