"""From a page's answer to what it holds; the reading itself is a child process's work."""

import logging
from dataclasses import replace
from datetime import datetime

from apps.documents import actions as documents
from apps.retrieval import sandbox
from apps.retrieval.algorithms.reading import read_site_page
from apps.retrieval.crawler.batches import CrawlBatch, PageAssignment, PageFetch
from apps.retrieval.http.fetching import Fetched

logger = logging.getLogger(__name__)

PAGES_FIRST = "text/html, application/xhtml+xml, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"
_READABLE = ("html", "xml", "text/plain", "octet-stream")


def read_page(turn: CrawlBatch, page: PageAssignment, fetched: Fetched) -> PageFetch:
    """Read a page as it was fetched. Nothing that a page holds is raised: the look says it."""
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
            keen_tags=turn.keen_tags,
        )
    except ValueError as error:  # too slow, too much memory, empty
        return PageFetch(page, fetched, problem=str(error))
    except Exception as error:
        logger.exception("could not read %s", page.url)
        return PageFetch(page, fetched, problem=f"It could not be read: {type(error).__name__}.")
    return PageFetch(page, fetched, reading)


def with_document_kept(look: PageFetch, *, now: datetime) -> PageFetch:
    """The look with the hash of its raw page, which is kept if it holds an article: extraction may be done again."""
    if look.reading is None or look.reading.article is None:
        return look
    try:
        content_type = look.fetched.headers.get("content-type", "")
        digest = documents.keep(look.fetched.body, url=look.fetched.url, content_type=content_type, now=now)
    except (documents.DocumentTooLarge, OSError) as error:  # the article is worth more than its page
        logger.warning("the page %s is not kept: %s", look.page.url, error)
        return look
    return replace(look, document=digest)
