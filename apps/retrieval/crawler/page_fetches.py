"""Fetched pages of crawled sites and of teasers: read in a child process, and kept if they have an article."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from apps.documents import actions as documents
from apps.retrieval import sandbox
from apps.retrieval.algorithms.reading import PageReading, read_site_page
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.models import Crawl, Page

logger = logging.getLogger(__name__)

PAGES_FIRST = "text/html, application/xhtml+xml, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"
_READABLE = ("html", "xml", "text/plain", "octet-stream")


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


def read_page(crawl: Crawl, page: Page, fetched: Fetched) -> PageFetch:
    """Read a fetched page. Nothing is raised: the result has the problem."""
    if fetched.failure is not None:
        return PageFetch(page, fetched, problem=fetched.failure.message)
    if fetched.status != 200:
        return PageFetch(page, fetched, problem=f"The server answered with status {fetched.status}.")
    content_type = fetched.headers.get("content-type", "")
    if content_type and not any(kind in content_type.lower() for kind in _READABLE):
        return PageFetch(page, fetched, problem=f"It is not a page, but {content_type[:100]}.")
    try:
        reading = sandbox.run(
            read_site_page,
            fetched.body,
            content_type=content_type,
            url=fetched.url,
            robots_header=fetched.headers.get("x-robots-tag", ""),
            wants_article=page.posting_id is not None,
            keen_tags=None if crawl.keen_tags is None else frozenset(crawl.keen_tags),
        )
    except ValueError as error:  # too slow, too much memory, empty
        return PageFetch(page, fetched, problem=str(error))
    except Exception as error:
        logger.exception("could not read %s", page.url)
        return PageFetch(page, fetched, problem=f"It could not be read: {type(error).__name__}.")
    return PageFetch(page, fetched, reading)


def with_document_kept(fetch: PageFetch, *, now: datetime) -> PageFetch:
    """Keep the raw page of an article, for later extractions, and return the fetch with its hash."""
    if fetch.reading is None or fetch.reading.article is None:
        return fetch
    try:
        content_type = fetch.fetched.headers.get("content-type", "")
        digest = documents.keep(fetch.fetched.body, url=fetch.fetched.url, content_type=content_type, now=now)
    except (documents.DocumentTooLarge, OSError) as error:  # the article is worth more than its page
        logger.warning("the page %s is not kept: %s", fetch.page.url, error)
        return fetch
    return replace(fetch, document=digest)
