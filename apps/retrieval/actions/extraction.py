"""Extract again what was extracted before, from the pages that were kept; learn a site's keen tags from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from apps.documents import queries as documents
from apps.postings import actions as postings
from apps.postings import queries as posting_queries
from apps.postings.actions import PageOfPosting
from apps.postings.algorithms.extraction.articles import extract_article
from apps.postings.algorithms.extraction.site_tags import MOST_PAGES
from apps.postings.algorithms.extraction.site_training import Trained, train_site_tags
from apps.retrieval import queries, sandbox
from apps.retrieval.actions.crawling import set_keen_tags

FEWEST_PAGES = 2


@dataclass(frozen=True, slots=True)
class Reextracted:
    """What became of one posting."""

    posting_id: int
    changed: bool
    problem: str = ""


def reextract(source_id: int | None = None, *, now: datetime) -> Iterator[Reextracted]:
    """Take the text out of every page that was kept once more, of one source or of all; posting by posting."""
    crawls: dict[int, frozenset[str] | None] = {}
    rows = posting_queries.with_documents(source_id).order_by("pk").values_list("pk", "source_id", "document")
    for posting_id, owner_id, digest in rows.iterator(chunk_size=500):
        if owner_id not in crawls:
            crawl = queries.crawl_of(owner_id)
            crawls[owner_id] = frozenset(crawl.keen_tags) if crawl and crawl.keen_tags else None
        yield _again(posting_id, bytes(digest), crawls[owner_id], now)


def _again(posting_id: int, digest: bytes, keen_tags: frozenset[str] | None, now: datetime) -> Reextracted:
    try:
        raw = documents.read(digest)
        article = sandbox.run(
            extract_article,
            raw.body,
            content_type=raw.content_type,
            url=raw.url,
            engine="keen_tags" if keen_tags else "keen",
            site_tags=keen_tags,
        )
    except (documents.DocumentLost, ValueError) as problem:
        return Reextracted(posting_id, False, str(problem))
    if not article.text:
        return Reextracted(posting_id, False, "No text was found on the page.")
    return Reextracted(posting_id, postings.fill(posting_id, PageOfPosting(raw.url, article, digest, now)))


def train_keen_tags(source_id: int, *, now: datetime) -> Trained:
    """Learn the keen tags of a site from its pages that were kept and whose text is known, and use them from now on.

    What a posting says is taken for the text of its page: what its feed gave in full, or what was extracted in the
    usual way.

    Raises
    ------
    ValueError
        If there are too few such pages.
    """
    known = list(posting_queries.with_documents(source_id).order_by("-published_at")[:MOST_PAGES])
    pages = []
    for posting in known:
        try:
            raw = documents.read(bytes(posting.document))
        except (documents.DocumentLost, documents.DocumentDamaged):
            continue
        pages.append((raw.body, raw.content_type, posting.text))
    if len(pages) < FEWEST_PAGES:
        raise ValueError(f"There are {len(pages)} kept pages with known text; at least {FEWEST_PAGES} are needed.")
    trained = sandbox.run(train_site_tags, pages)
    set_keen_tags(source_id, trained.tags, now=now)
    return trained
