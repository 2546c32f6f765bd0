"""Parsed feeds of any dialect."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

MAX_ENTRIES = 10_000


class NotAFeed(ValueError):
    """None of the parsers finds a feed in the bytes; the message names what they look like."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    url: str
    media_type: str = ""
    length: int | None = None  # bytes, as the publisher claims
    duration: int | None = None  # seconds
    title: str = ""


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    guid: str = ""  # as given (RSS guid, Atom id, JSON id, RDF about); "" when there is none
    link: str = ""  # absolute http(s) address of the page, "" when there is none
    title: str = ""  # plain text, entities decoded, tags removed
    # Addresses within the HTML are absolute where the document says what they are relative to; else it is the link.
    summary: str = ""  # HTML, not yet made safe
    content: str = ""  # the fullest HTML given, not yet made safe; "" when there is only a summary
    published: datetime | None = None  # aware, with the offset that the publisher wrote
    updated: datetime | None = None  # the same
    authors: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    language: str = ""
    image_url: str = ""
    comments_url: str = ""
    enclosures: tuple[Enclosure, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateHints:
    """The update frequency that the publisher states; hints only lengthen the gap between retrievals."""

    ttl: int | None = None  # seconds (RSS ttl, and what podcasts and syndication modules give)
    skip_hours: frozenset[int] = frozenset()  # 0..23, GMT
    skip_days: frozenset[int] = frozenset()  # 0 = Monday .. 6 = Sunday, GMT


@dataclass(frozen=True, slots=True)
class Cloud:
    """The rssCloud server that RSS names."""

    domain: str
    port: int
    path: str
    protocol: str  # in small letters: "http-post", "xml-rpc", "soap"


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    kind: str  # "rss", "rdf", "atom" or "json"
    title: str = ""  # plain text
    link: str = ""  # the site's page
    description: str = ""  # plain text
    language: str = ""
    image_url: str = ""
    self_url: str = ""  # rel=self
    new_url: str = ""  # where the publisher says that the feed moved (itunes:new-feed-url)
    hub_urls: tuple[str, ...] = ()  # WebSub hubs, in order
    cloud: Cloud | None = None
    hints: UpdateHints = field(default_factory=UpdateHints)
    entries: tuple[ParsedEntry, ...] = ()
    problems: tuple[str, ...] = ()  # what was wrong with the document, for the person who tests the source


def left_out(count: int) -> tuple[str, ...]:
    """The problem of a feed with more entries than are read."""
    return (f"The feed has {count:,} entries; the first {MAX_ENTRIES:,} were read.",) if count > MAX_ENTRIES else ()


# --- pages ------------------------------------------------------------------------------------------------------------
class Page(NamedTuple):
    """A document as it was fetched, no longer compressed."""

    content: bytes
    content_type: str  # the header of the response
    url: str


@dataclass(frozen=True, slots=True)
class Follow:
    """The address of the page to fetch next."""

    url: str
