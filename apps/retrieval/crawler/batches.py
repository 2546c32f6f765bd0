"""Looks at pages of crawled sites and of postings: what a worker is told, and what it brings back."""

from dataclasses import dataclass
from datetime import datetime

from apps.retrieval.algorithms.reading import PageReading
from apps.retrieval.http.fetching import Fetched


@dataclass(frozen=True, slots=True)
class PageAssignment:
    """A page that a worker is to fetch, with what is remembered of it."""

    page_id: int
    url: str
    kind: str  # a Page.Kind, as far as is known
    depth: int
    looks: int
    failures: int
    link_text: str
    found_on_id: int | None  # the index page that led to it first
    posting_id: int | None  # the posting that waits for the page's words


@dataclass(frozen=True, slots=True)
class CrawlBatch:
    """A worker's permission to fetch pages of one source, until the lease ends."""

    source_id: int
    leased_until: datetime
    crawled: bool  # a site; else the pages of a feed's postings
    keen_tags: frozenset[str] | None  # learnt of the site
    pages: tuple[PageAssignment, ...]


@dataclass(frozen=True, slots=True)
class PageFetch:
    """A page as it was found."""

    page: PageAssignment
    fetched: Fetched
    reading: PageReading | None = None
    document: bytes = b""  # the hash of its raw bytes, if they are kept
    problem: str = ""  # why it could not be read
