"""Reader view: the text of an article's page, fetched when a reader requests it."""

from threading import BoundedSemaphore

from django.utils.timezone import now

from apps.accounts.actions import rate_limits
from apps.accounts.models import User
from apps.postings.models import Posting
from apps.reading.actions.fetching import fetch, slot
from apps.retrieval.actions.crawling import fill_posting
from apps.retrieval.crawler.page_fetches import PAGES_FIRST, read_page, with_document_kept
from apps.retrieval.http.fetching import FetchRequest, Timeouts
from apps.retrieval.models import Crawl, Page

MAX_FETCHES = 4  # at a time in this process
TIMEOUTS = Timeouts(total=10.0, connect=5.0, read=5.0)
MOST, WITHIN = 60, 3_600  # pages per user; s

_slots = BoundedSemaphore(MAX_FETCHES)


class TooOften(Exception):
    """The user has had many pages fetched within the hour."""


def fetch_text(user: User, posting: Posting) -> bool:
    """Replace a teaser by the text of its page; False if there is no longer one. Raises Busy and TooOften."""
    if not rate_limits.is_within("full-text", user.pk, most=MOST, seconds=WITHIN):
        raise TooOften
    page = Page(source_id=posting.source_id, url=posting.url, posting_id=posting.pk)
    with slot(_slots):
        fetched = fetch(FetchRequest(posting.url, accept=PAGES_FIRST), TIMEOUTS)
        read = read_page(Crawl(source_id=posting.source_id), page, fetched)
    return fill_posting(with_document_kept(read, now=now()))
