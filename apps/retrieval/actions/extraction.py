"""Extract again what was extracted before, from the pages that were kept; learn a site's keen tags from them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.documents import queries as documents
from apps.postings import actions as postings
from apps.postings import queries as posting_queries
from apps.postings.actions import PageOfPosting
from apps.postings.algorithms.extraction.articles import extract_article
from apps.postings.algorithms.extraction.site_tags import MAX_PAGES
from apps.postings.algorithms.extraction.site_training import Trained, train_site_tags
from apps.retrieval import queries, sandbox
from apps.retrieval.actions.crawling import set_keen_tags
from apps.retrieval.models import Schedule

MIN_PAGES = 2
MAX_PROBLEMS = 3  # reported by one split of a job


@dataclass(frozen=True, slots=True)
class Extracted:
    """A kept page, extracted again and not stored yet."""

    posting_id: int
    digest: bytes  # of the page
    page: PageOfPosting | None
    problem: str = ""


def extract_again(source_id: int, first: int, last: int, beat: Callable[[], None], *, now: datetime) -> list[Extracted]:
    """Extract the text of kept pages of a source's postings, from one id to another."""
    crawl = queries.crawl_of(source_id)
    keen_tags = frozenset(crawl.keen_tags) if crawl and crawl.keen_tags else None
    rows = posting_queries.with_documents(source_id).filter(pk__gte=first, pk__lte=last).order_by("pk")
    found = []
    for posting_id, digest in list(rows.values_list("pk", "document")):
        found.append(_extracted(posting_id, bytes(digest), keen_tags, now))
        beat()
    return found


def _extracted(posting_id: int, digest: bytes, keen_tags: frozenset[str] | None, now: datetime) -> Extracted:
    try:
        raw = documents.read(digest)
        article = sandbox.run(
            extract_article,
            raw.body,
            content_type=raw.content_type,
            url=raw.url,
            site_tags=keen_tags,
        )
    except (documents.DocumentLost, ValueError) as problem:
        return Extracted(posting_id, digest, None, str(problem))
    if not article.text:
        return Extracted(posting_id, digest, None, "No text was found on the page.")
    return Extracted(posting_id, digest, PageOfPosting(raw.url, article, digest, now))


@transaction.atomic
def write_extracted(found: Sequence[Extracted], source_ids: Collection[int]) -> dict[str, Any]:
    """Replace the extracted texts of postings; returns counts and some problems.

    A posting that has another page by now keeps its text.
    """
    # Postings of a source are stored under the lock of its schedule.
    list(Schedule.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))
    pages = dict(
        posting_queries.with_documents()
        .filter(pk__in=[each.posting_id for each in found])
        .values_list("pk", "document")
    )
    written = sum(
        postings.fill(each.posting_id, each.page)
        for each in found
        if each.page and bytes(pages.get(each.posting_id, b"")) == each.digest
    )
    problems = [f"Posting {each.posting_id}: {each.problem}" for each in found if each.problem]
    return {"pages": len(found), "texts": written, "unusable": len(problems), "problems": problems[:MAX_PROBLEMS]}


def train_keen_tags(source_id: int, *, now: datetime) -> Trained:
    """Learn the keen tags of a site from its kept pages, and extract with them from now on.

    A posting's text counts as the true text of its page: from the feed in full, or extracted in the usual way. Raises
    ValueError if there are too few pages.
    """
    known = list(posting_queries.with_documents(source_id).order_by("-published_at")[:MAX_PAGES])
    pages = []
    for posting in known:
        try:
            raw = documents.read(bytes(posting.document))
        except (documents.DocumentLost, documents.DocumentDamaged):
            continue
        pages.append((raw.body, raw.content_type, posting.text))
    if len(pages) < MIN_PAGES:
        raise ValueError(f"There are {len(pages)} stored pages with known text; at least {MIN_PAGES} are needed.")
    trained = sandbox.run(train_site_tags, pages)
    set_keen_tags(source_id, trained.tags, now=now)
    return trained
