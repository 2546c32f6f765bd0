"""Batches of pages of crawled sites and of teasers, and the results of fetching them."""

from dataclasses import dataclass
from typing import NamedTuple

from apps.retrieval.algorithms.reading import PageReading
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.models import Crawl, Page


class CrawlBatch(NamedTuple):
    """Pages of one source that a worker may fetch until the lease of the crawl ends."""

    crawl: Crawl
    pages: list[Page]


@dataclass(frozen=True, slots=True)
class PageFetch:
    """A fetched page."""

    page: Page
    fetched: Fetched
    reading: PageReading | None = None
    document: bytes = b""  # the hash of its raw bytes, if they are kept
    problem: str = ""  # why it could not be read
