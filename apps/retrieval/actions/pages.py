"""Remember the pages that links lead to, of crawled sites and of feeds with teasers.

A writer of pages of a source holds the lock of its crawl, taken after those of schedules.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b

from django.db import transaction
from django.db.models import Q

from apps.postings.actions import Stored
from apps.postings.algorithms.teasers import FULL_LENGTH, is_teaser
from apps.postings.models import Posting
from apps.retrieval.algorithms.crawl.addresses import is_continuation, page_key
from apps.retrieval.algorithms.crawl.deciding import for_new_link
from apps.retrieval.algorithms.crawl.links import Link
from apps.retrieval.algorithms.crawl.patterns import Patterns
from apps.retrieval.algorithms.robots import origin_of, sitemaps_in
from apps.retrieval.http.results import FetchResult
from apps.retrieval.models import Crawl, Page, RobotsRules
from apps.sources import kinds
from apps.sources.algorithms.addresses import host, partition, registrable_domain
from apps.sources.models import Source

MAX_HANDED_OVER = 200  # links of a batch to one other site: its pages are found by its own links in the first place
TEASER_PRIORITY = 10.0  # above that of any link, since users already see the posting
FEED_PAGES_KEPT = timedelta(days=30)
PRUNED_AT_ONCE = 5_000  # rows per transaction


def find(results: Sequence[FetchResult], *, now: datetime) -> dict[int, Stored]:
    """Remember the pages that retrieved index pages link to; returns how many new ones are to be fetched of each.

    Of feeds with teasers, the pages of new postings are stored as well.
    """
    stored = {}
    for result in sorted(results, key=lambda result: result.assignment.site_id or result.assignment.source_id):
        assignment = result.assignment
        if result.read.index is not None:
            crawl = lock_crawl(assignment.site_id or assignment.source_id, now=now)
            depth = _depth(crawl, assignment.url) if assignment.site_id else 0
            new = add_links(crawl, result.read.index.links, found_on=assignment.source_id, depth=depth, now=now)
            hand_over(crawl, result.read.index.links, now=now)
            stored[assignment.source_id] = Stored(new=new, edited=0)
        elif result.read.feed is not None and assignment.full_text:
            add_teasers(assignment.source_id, result.fetched.received_at, now=now)
    return stored


def lock_crawl(source_id: int, *, now: datetime) -> Crawl:
    """The source's crawl, begun if there is none yet, and locked until the transaction ends."""
    _, is_new = Crawl.objects.get_or_create(source_id=source_id)
    crawl = Crawl.objects.select_related("source").select_for_update(of=("self",)).get(pk=source_id)
    if is_new and crawl.source.kind == kinds.SITE:
        _begin(crawl, now)
    return crawl


def _begin(crawl: Crawl, now: datetime) -> None:
    """Remember the first page, which was retrieved already, and have the site's sitemaps fetched."""
    url = crawl.source.url
    first = Page(
        source_id=crawl.pk,
        key=key_of(url),
        url=url,
        kind=Page.Kind.INDEX,
        probability=1.0,
        decided_by="operator",
        found_at=now,
    )
    Page.objects.bulk_create([first], ignore_conflicts=True)
    rules = RobotsRules.objects.filter(pk=origin_of(url)).values_list("body", flat=True).first() or ""
    named = sitemaps_in(rules) or [f"{origin_of(url)}/sitemap.xml"]
    add_links(crawl, [Link(address, "Sitemap") for address in named], found_on=None, depth=0, now=now)


def key_of(url: str) -> bytes:
    return blake2b(page_key(url).encode(), digest_size=16).digest()


def _depth(crawl: Crawl, url: str) -> int:
    return Page.objects.filter(source_id=crawl.pk, key=key_of(url)).values_list("depth", flat=True).first() or 1


def add_links(crawl: Crawl, links: Sequence[Link], *, found_on: int | None, depth: int, now: datetime) -> int:
    """Remember pages of the site that a page at this depth links to; returns how many new ones are to be fetched.

    The crawl is locked. Links to other sites are ignored.
    """
    site = _site_of(crawl.source.url)
    by_key = {key_of(link.url): link for link in links if _site_of(link.url) == site}
    known = Page.objects.filter(source_id=crawl.pk, key__in=list(by_key)).values_list("key", flat=True)
    for key in known:
        del by_key[bytes(key)]
    room = max(0, crawl.max_pages - crawl.known_pages)
    patterns = Patterns.from_json(crawl.patterns)
    rows = [
        _page(crawl, key, link, patterns, found_on=found_on, depth=depth, now=now)
        for key, link in list(by_key.items())[:room]
    ]
    Page.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
    wanted = sum(row.due_at is not None for row in rows)
    Crawl.objects.filter(pk=crawl.pk).update(known_pages=crawl.known_pages + len(rows))
    crawl.known_pages += len(rows)
    if wanted:
        _wake(crawl, now)
    return wanted


def hand_over(crawl: Crawl, links: Iterable[Link], *, now: datetime) -> None:
    """Remember links to other crawled sites as pages of these, once this transaction has ended.

    Those to one site are stored together, and fetched from the queue of its partition. Locks of two crawls at a time
    would let sites that link to each other wait for each other.
    """
    by_site: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        by_site[_site_of(link.url)].append(link)
    by_site.pop(_site_of(crawl.source.url), None)
    if by_site:
        transaction.on_commit(lambda: _add_to_sites(by_site, now), robust=True)


def _add_to_sites(by_site: Mapping[str, Sequence[Link]], now: datetime) -> None:
    partitions = {partition(links[0].url) for links in by_site.values()}
    crawled = Source.objects.filter(kind=kinds.SITE, crawl__isnull=False, schedule__partition__in=partitions)
    for source_id, url in crawled.order_by("pk").values_list("pk", "url"):
        if links := by_site.get(_site_of(url), ())[:MAX_HANDED_OVER]:
            with transaction.atomic():
                add_links(lock_crawl(source_id, now=now), links, found_on=None, depth=0, now=now)


def _site_of(url: str) -> str:
    return registrable_domain(host(url))


def _page(
    crawl: Crawl, key: bytes, link: Link, patterns: Patterns, *, found_on: int | None, depth: int, now: datetime
) -> Page:
    # Further pages of a list have the depth of its first page, however long the list is.
    depth += 0 if is_continuation(link.url) else 1
    step = for_new_link(link, depth, patterns=patterns, max_depth=crawl.max_depth, today=now.date())
    return Page(
        source_id=crawl.pk,
        key=key,
        url=link.url,
        kind=Page.Kind.UNKNOWN if step.fetch else Page.Kind.VALUELESS,
        decided_by="" if step.fetch else "address",
        reason=step.reason[:200],
        link_text=link.text[:300],
        depth=depth,
        priority=step.priority,
        found_on_id=found_on,
        found_at=now,
        due_at=now if step.fetch else None,
    )


def _wake(crawl: Crawl, now: datetime) -> None:
    Crawl.objects.filter(Q(due_at__isnull=True) | Q(due_at__gt=now), pk=crawl.pk).update(due_at=now)


def add_teasers(source_id: int, received_at: datetime, *, now: datetime) -> None:
    """Have the pages of new teasers fetched."""
    new = Posting.objects.filter(source_id=source_id, retrieved_at=received_at, extractor="").exclude(url="")
    teasers = [
        (posting.pk, posting.url)
        for posting in new.only("url", "text")
        if len(posting.text) < FULL_LENGTH and is_teaser(posting.text)
    ]
    if not teasers:
        return
    crawl = lock_crawl(source_id, now=now)
    Page.objects.bulk_create(
        [
            Page(
                source_id=source_id,
                key=key_of(url),
                url=url[:2_000],
                kind=Page.Kind.NEWS,
                probability=1.0,
                decided_by="feed",
                priority=TEASER_PRIORITY,
                found_at=now,
                due_at=now,
                posting_id=posting_id,
            )
            for posting_id, url in teasers
            if len(url) <= 2_000
        ],
        ignore_conflicts=True,
    )
    _wake(crawl, now)


def prune_feed_pages(*, now: datetime) -> int:
    """Delete old pages of feeds' postings that are not fetched again; returns how many there were.

    A page is fetched only when its posting is new. Rows of sites stay: they show which addresses are known.
    """
    old = Page.objects.filter(due_at__isnull=True, found_at__lt=now - FEED_PAGES_KEPT)
    of_feeds = old.exclude(source__kind=kinds.SITE).order_by("pk")
    pruned = 0
    while True:
        with transaction.atomic():
            # Rows locked by another transaction are left to the next run.
            locked = of_feeds.select_for_update(of=("self",), skip_locked=True)
            ids = list(locked.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
            Page.objects.filter(pk__in=ids).delete()
        pruned += len(ids)
        if len(ids) < PRUNED_AT_ONCE:
            return pruned
