"""Read kept pages again: their texts, their links, and the keen tags of a site."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.documents import queries as documents
from apps.postings import actions as postings
from apps.postings import queries as posting_queries
from apps.postings.actions import PageOfPosting
from apps.postings.algorithms.extraction.articles import extract_article
from apps.postings.algorithms.extraction.site_tags import MAX_PAGES, Trained, train_site_tags
from apps.retrieval import queries, sandbox
from apps.retrieval.actions.crawling import set_keen_tags
from apps.retrieval.actions.pages import add_links, key_of, lock_crawl
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.reading import read_index
from apps.retrieval.models import Page, Schedule
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.formats.feed import NotAFeed

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


# --- links ------------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Linked:
    """What the pages that link to an address show of it."""

    source_id: int  # the site
    url: str
    text: str  # the longest
    is_headline: bool
    depth: int  # of the nearest of these pages
    pages: int

    def merge(self, other: "Linked") -> None:
        self.text = max(self.text, other.text, key=len)
        self.is_headline |= other.is_headline
        self.depth = min(self.depth, other.depth)
        self.pages += other.pages


def links_again(source_id: int, first: int, last: int, beat: Callable[[], None]) -> dict[str, Linked]:
    """The links of kept pages of a site's postings within the site, by address, from one posting id to another."""
    found: dict[str, Linked] = {}
    kept = posting_queries.with_documents(source_id).filter(pk__gte=first, pk__lte=last)
    depths = dict(Page.objects.filter(posting__in=kept).values_list("posting", "depth"))
    for posting_id, digest in list(kept.order_by("pk").values_list("pk", "document")):
        for link in _links_of(bytes(digest)):
            linked = Linked(source_id, link.url, link.text, link.is_headline, depths.get(posting_id, 1), 1)
            key = f"{source_id} {key_of(link.url).hex()}"
            if key in found:
                found[key].merge(linked)
            else:
                found[key] = linked
        beat()
    return found


def _links_of(digest: bytes) -> Iterable[Link]:
    """Links to pages of the page's own site; none of a page that is lost or cannot be read."""
    try:
        raw = documents.read(digest)
        links = sandbox.run(read_index, raw.body, content_type=raw.content_type, url=raw.url).links
    except (documents.DocumentLost, NotAFeed, ValueError):
        return []
    site = registrable_domain(host(raw.url))
    return [link for link in links if registrable_domain(host(link.url)) == site]


def merged(values: Sequence[Mapping[str, Any]]) -> Linked:
    """One address, merged from several splits."""
    whole = Linked(**values[0])
    for value in values[1:]:
        whole.merge(Linked(**value))
    return whole


@transaction.atomic
def add_linked(found: Iterable[Linked], *, now: datetime) -> dict[str, int]:
    """Remember the unknown ones, those with the most links first; returns counts."""
    by_site: defaultdict[int, defaultdict[int, list[Linked]]] = defaultdict(lambda: defaultdict(list))
    addresses = 0
    for linked in sorted(found, key=lambda each: (-each.pages, each.url)):
        by_site[linked.source_id][linked.depth].append(linked)
        addresses += 1
    new = 0
    for source_id, by_depth in sorted(by_site.items()):  # all take the locks of crawls in this order
        crawl = lock_crawl(source_id, now=now)
        for depth, linked_here in sorted(by_depth.items()):
            links = [Link(each.url, each.text, each.is_headline) for each in linked_here]
            new += add_links(crawl, links, found_on=None, depth=depth, now=now)
    return {"addresses": addresses, "new pages": new}
