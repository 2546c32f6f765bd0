"""Fetch pages of sites and of teasers in batches; a batch is a lease of one source's pages.

Algorithm I of Ai-Times: of the pages of a site, those with news are fetched once and become postings, index pages
become planned sources of their own, and pages without value are stored and not fetched again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Min
from django.db.models.functions import Greatest

from apps.postings import actions as postings
from apps.postings import queries as posting_queries
from apps.postings.actions import PageOfPosting, Stored
from apps.retrieval import queries
from apps.retrieval.actions.due_times import delays
from apps.retrieval.actions.learning import Learner, learn_first_profiles
from apps.retrieval.actions.pages import add_links, hand_over, lock_crawl
from apps.retrieval.actions.planning import shortest_gap
from apps.retrieval.actions.replanning import replan
from apps.retrieval.algorithms.crawl.addresses import is_continuation
from apps.retrieval.algorithms.crawl.deciding import Decision, Seen, after_fetch
from apps.retrieval.algorithms.crawl.patterns import KINDS, Patterns
from apps.retrieval.algorithms.reading import IndexReading
from apps.retrieval.crawler.page_fetches import CrawlBatch, PageFetch
from apps.retrieval.models import Crawl, Page, Retrieval, Schedule
from apps.retrieval.planner.due_times import OBSERVING
from apps.sources import actions as sources
from apps.sources import kinds
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source

BATCH_SIZE = 25  # pages
LEASE = timedelta(minutes=5)  # after it another worker continues where one was lost
LIKELY = 0.5  # probability from which a link counts as one to news
MAX_GUESSED = 300  # links per page
UNWANTED_FOR = timedelta(hours=1)  # between two checks whether the source is followed again


@transaction.atomic
def begin_batch(source_id: int, *, now: datetime) -> CrawlBatch | None:
    """Lease the pages of a source that are to be fetched next; None if there are none, or another worker has a lease.

    Requests are counted before they are sent: a worker that is lost may have sent them, too.
    """
    crawls = Crawl.objects.select_related("source").select_for_update(of=("self",), skip_locked=True)
    crawl = crawls.filter(pk=source_id, due_at__lte=now).first()
    if crawl is None or (crawl.leased_until and crawl.leased_until > now):
        return None
    left = _requests_left(crawl, now)
    pages = _worth_a_request(crawl, now)[: max(0, left)]
    if not queries.to_check().filter(pk=source_id).exists():
        crawl.due_at = now + UNWANTED_FOR
    elif left <= 0 and crawl.day_began_at:
        crawl.due_at = crawl.day_began_at + _day(crawl)
    elif not pages:
        crawl.due_at = _next_page_at(source_id)
    else:
        crawl.requests_today += len(pages)
        crawl.leased_until = now + LEASE
        crawl.save(update_fields=["day_began_at", "requests_today", "leased_until"])
        return CrawlBatch(crawl, pages)
    crawl.save(update_fields=["due_at"])
    return None


def _worth_a_request(crawl: Crawl, now: datetime) -> list[Page]:
    """The pages to fetch next; those that patterns now rule out are marked as valueless."""
    patterns = Patterns.from_json(crawl.patterns)
    while True:
        waiting = list(queries.waiting_pages(crawl.pk, now)[:BATCH_SIZE])
        unknown = [page for page in waiting if not page.fetches and not page.posting_id]
        skipped = {page.pk: reason for page in unknown if (reason := patterns.reason_to_skip(page.url))}
        for pk, reason in skipped.items():
            Page.objects.filter(pk=pk).update(
                kind=Page.Kind.VALUELESS, decided_by="address", reason=reason[:200], due_at=None
            )
        if len(skipped) < BATCH_SIZE:
            return [page for page in waiting if page.pk not in skipped]


def _requests_left(crawl: Crawl, now: datetime) -> int:
    if crawl.day_began_at is None or crawl.day_began_at + _day(crawl) <= now:
        crawl.day_began_at, crawl.requests_today = now, 0
    return crawl.pages_per_day - crawl.requests_today


def _day(crawl: Crawl) -> timedelta:
    return timedelta(days=1) / crawl.source.clock_rate


def _next_page_at(source_id: int) -> datetime | None:
    waiting = Page.objects.filter(source_id=source_id, due_at__isnull=False)
    found: datetime | None = waiting.aggregate(first=Min("due_at"))["first"]
    return found


@transaction.atomic
def store_batch(batch: CrawlBatch, fetches: Sequence[PageFetch], *, now: datetime) -> bool:
    """Store the results of a batch and end its lease; stores nothing and returns False if the lease was lost."""
    # Postings of one source are stored under the lock of its schedule, which comes before that of its crawl.
    Schedule.objects.select_for_update().filter(pk=batch.crawl.pk).first()
    crawls = Crawl.objects.select_related("source").select_for_update(of=("self",))
    crawl = crawls.filter(pk=batch.crawl.pk, leased_until=batch.crawl.leased_until).first()
    if crawl is None:  # another worker has the lease, or the source was deleted
        return False
    is_site = batch.crawl.source.kind == kinds.SITE
    patterns = Patterns.from_json(crawl.patterns)
    decided = [(fetch, _decide(fetch, patterns, now)) for fetch in fetches]
    posting_ids = _store_postings(crawl, decided)
    _store_index_pages(crawl, decided, now)
    _write_pages(decided, posting_ids)
    due_at = _next_page_at(crawl.pk)
    if is_site:
        _observe(patterns, decided)
    Crawl.objects.filter(pk=crawl.pk).update(patterns=patterns.to_json(), leased_until=None, due_at=due_at)
    if is_site and crawl.explored_at is None and (due_at is None or due_at > now):
        _learn_profile(crawl, now)
    return True


def _learn_profile(crawl: Crawl, now: datetime) -> None:
    """Learn when the site publishes as soon as all its pages were read: its first page was retrieved before that."""
    Crawl.objects.filter(pk=crawl.pk).update(explored_at=now)
    learn_first_profiles([Learner(crawl.pk, crawl.source.clock_rate)], now=now)
    replan([crawl.pk], now=now)


Decided = Sequence[tuple[PageFetch, Decision]]


def _decide(fetch: PageFetch, patterns: Patterns, now: datetime) -> Decision:
    page, reading = fetch.page, fetch.reading
    seen = Seen(
        url=page.url,
        status=fetch.fetched.status,
        failure=fetch.fetched.failure.kind if fetch.fetched.failure else "",
        retry_after=fetch.fetched.failure.retry_after if fetch.fetched.failure else None,
        kind=reading.kind if reading else "",
        probability=reading.probability if reading else 0.0,
        run_length=reading.run_length if reading else 0,
        reasons=reading.reasons if reading else (fetch.problem,),
        presumed_news=page.posting_id is not None,
        noindex=reading.noindex if reading else False,
        known_kind=page.kind,
        leads_to_news=bool(reading and reading.index and _leads_to_news(reading.index, patterns)),
    )
    return after_fetch(seen, fetches=page.fetches, failures=page.failures, now=now)


def _leads_to_news(index: IndexReading, patterns: Patterns) -> bool:
    return any(patterns.prior(link.url, link.text).news >= LIKELY for link in index.links[:MAX_GUESSED])


def _store_postings(crawl: Crawl, decided: Decided) -> dict[int, int]:
    """Store the articles of news pages; returns the posting of each page."""
    news = [fetch for fetch, decision in decided if decision.kind == Page.Kind.NEWS and fetch.reading]
    found: dict[int, int] = {}
    new = []
    for fetch in news:
        page = _posting_page(fetch)
        if page is None:
            continue
        if fetch.page.posting_id is None:
            new.append((fetch, page))
        else:
            postings.fill(fetch.page.posting_id, page)
            found[fetch.page.pk] = fetch.page.posting_id
    ids = postings.store_articles(crawl.pk, [page for _, page in new])
    stored = {fetch.page.pk: id for (fetch, _), id in zip(new, ids, strict=True) if id is not None}
    _log_delays(stored, clock_rate=crawl.source.clock_rate)
    return found | stored


def _log_delays(posting_ids: Mapping[int, int], *, clock_rate: float) -> None:
    """Add the delays of new articles, by their pages, to the retrievals of the index pages that link to them.

    What the first retrieval of an index page showed may be of any age, so it has no delay.
    """
    pages = Page.objects.filter(pk__in=posting_ids, found_on__isnull=False).values_list("pk", "found_on")
    by_index: dict[int, list[int]] = defaultdict(list)
    for page_id, index_id in pages:
        by_index[index_id].append(posting_ids[page_id])
    for index_id, ids in by_index.items():
        _log_delays_of_index(index_id, ids, clock_rate)


def _log_delays_of_index(index_id: int, posting_ids: list[int], clock_rate: float) -> None:
    observations = Retrieval.objects.filter(source_id=index_id, outcome__in=OBSERVING).order_by("-fetched_at")
    latest = list(observations.values_list("pk", "fetched_at")[:2])
    if len(latest) < 2:
        return
    (retrieval_id, _), (_, observed_at) = latest
    first = observations.earliest("fetched_at").fetched_at
    waited = []
    for published, retrieved in posting_queries.trusted_dates(posting_ids):
        waited += delays(Stored(1, 0, (published,)), retrieved, clock_rate, observed_at=observed_at, first=first)
    if waited:
        Retrieval.objects.filter(pk=retrieval_id).update(
            dated=F("dated") + len(waited),
            delay_seconds=F("delay_seconds") + sum(waited),
            longest_delay_seconds=Greatest(F("longest_delay_seconds"), max(waited)),
        )


@transaction.atomic
def fill_posting(fetch: PageFetch) -> bool:
    """Replace the teaser of a posting by the text of its page; False without an article, or if that is not longer."""
    # Postings of one source are stored under the lock of its schedule.
    Schedule.objects.select_for_update().filter(pk=fetch.page.source_id).first()
    page = _posting_page(fetch)
    return page is not None and fetch.page.posting_id is not None and postings.fill(fetch.page.posting_id, page)


def _posting_page(fetch: PageFetch) -> PageOfPosting | None:
    if fetch.reading is None or fetch.reading.article is None:
        return None
    return PageOfPosting(fetch.fetched.url, fetch.reading.article, fetch.document, fetch.fetched.received_at)


def _store_index_pages(crawl: Crawl, decided: Decided, now: datetime) -> None:
    """Make index pages sources, and remember what they link to, on other crawled sites as well."""
    found = [
        (fetch, fetch.reading.index, decision)
        for fetch, decision in decided
        if decision.kind == Page.Kind.INDEX and fetch.reading and fetch.reading.index
    ]
    room = crawl.max_index_pages - Source.objects.filter(site_id=crawl.pk).count()
    wanted = [(fetch.page.url, index.about.title) for fetch, index, decision in found if decision.becomes_source]
    ids = sources.editing.add_index_pages(crawl.pk, wanted[: max(0, room)])
    # They were fetched just now, which counts as their first retrieval.
    first = now + shortest_gap(crawl.source)
    Schedule.objects.bulk_create(
        [
            Schedule(
                source_id=pk, partition=partition(url), requested_at=now, due_at=first, reason="found by the crawl"
            )
            for url, pk in ids.items()
        ],
        ignore_conflicts=True,
    )
    for fetch, index, _ in found:
        # Links on further pages of a list were on its first page before.
        found_on = ids.get(fetch.page.url, fetch.page.found_on_id)
        add_links(crawl, index.links, found_on=found_on, depth=fetch.page.depth, now=now)
    hand_over(crawl, [link for _, index, _ in found for link in index.links], now=now)


def _write_pages(decided: Decided, posting_ids: dict[int, int]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            UPDATE retrieval_page SET kind = %s, probability = %s, decided_by = %s, reason = %s, fetches = %s,
                failures = %s, due_at = %s, status = %s, fetched_at = %s, posting_id = coalesce(%s, posting_id)
            WHERE id = %s
            """,
            [
                (
                    *(decision.kind, decision.probability, decision.decided_by, decision.reason[:200]),
                    *(decision.fetches, decision.failures, decision.due_at),
                    *(fetch.fetched.status, fetch.fetched.received_at),
                    *(posting_ids.get(fetch.page.pk), fetch.page.pk),
                )
                for fetch, decision in decided
            ],
        )


def _observe(patterns: Patterns, decided: Decided) -> None:
    """Learn from the kinds of the fetched pages.

    An index page that leads to no news has no value, however many pages it links to: a calendar's, say.
    """
    for fetch, decision in decided:
        if fetch.reading is not None and decision.kind in KINDS:
            leads = decision.kind != Page.Kind.INDEX or decision.becomes_source or is_continuation(fetch.page.url)
            patterns.observe(fetch.page.url, decision.kind if leads else Page.Kind.VALUELESS)


def change_crawl(source_id: int, *, now: datetime, **limits: int) -> None:
    """Change the limits of a crawl; pages postponed to tomorrow are due again if today's limit allows it."""
    with transaction.atomic():
        lock_crawl(source_id, now=now)
        Crawl.objects.filter(pk=source_id).update(**limits, due_at=now)


@transaction.atomic
def decide_page(source_id: int, page_id: int, kind: str, *, now: datetime) -> bool:
    """Set the kind of a page, or fetch it again if the kind is empty. False if there is no such page."""
    page = Page.objects.filter(pk=page_id, source_id=source_id)
    if kind:
        return bool(page.update(kind=kind, probability=1.0, decided_by="operator", reason="", due_at=None))
    Crawl.objects.filter(pk=source_id).update(due_at=now)
    return bool(page.update(due_at=now, failures=0))


def set_keen_tags(source_id: int, tags: frozenset[str] | None, *, now: datetime) -> None:
    """Extract a source's pages by keen tags of its own, or with None by the default recipe."""
    with transaction.atomic():
        lock_crawl(source_id, now=now)
        Crawl.objects.filter(pk=source_id).update(keen_tags=None if tags is None else sorted(tags))
