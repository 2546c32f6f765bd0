"""Fetch pages of sites, and of postings that only tease, by turns: a turn is a lease of one source's pages.

Algorithm I of Ai-Times: of the pages of a site, those with news are fetched once and become postings, index pages
become sources of their own and are asked as the plan says, and pages without value are remembered and left alone.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Min

from apps.postings import actions as postings
from apps.postings.actions import PageOfPosting
from apps.retrieval import queries
from apps.retrieval.actions.crawl_delays import log_delays
from apps.retrieval.actions.learning import Learner, learn_first_profiles
from apps.retrieval.actions.pages import add_links, lock_crawl
from apps.retrieval.actions.planning import shortest_gap
from apps.retrieval.actions.replanning import replan
from apps.retrieval.algorithms.crawl.addresses import is_continuation
from apps.retrieval.algorithms.crawl.deciding import Decision, Seen, after_fetch
from apps.retrieval.algorithms.crawl.patterns import KINDS, Patterns
from apps.retrieval.algorithms.reading import IndexReading
from apps.retrieval.crawler.batches import CrawlBatch, PageAssignment, PageFetch
from apps.retrieval.models import Crawl, Page, Schedule
from apps.sources import actions as sources
from apps.sources import kinds
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source

TURN_SIZE = 25  # pages
LEASE = timedelta(minutes=5)  # after it another worker may go on where one was lost
LIKELY = 0.5  # probability from which a link counts as one to news
MAX_GUESSED = 300  # links of a page
UNWANTED_FOR = timedelta(hours=1)  # between two looks whether anybody follows the source again


@transaction.atomic
def begin_batch(source_id: int, *, now: datetime) -> CrawlBatch | None:
    """Lease the pages of a source that are to be fetched next; None while there are none, or it is another's turn.

    Requests are counted here, before they are made: those of a worker that is lost were made, too.
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
        return _turn(crawl, crawl.leased_until, pages)
    crawl.save(update_fields=["due_at"])
    return None


def _worth_a_request(crawl: Crawl, now: datetime) -> list[Page]:
    """The pages to fetch next; those that experience speaks against by now are remembered as such."""
    patterns = Patterns.from_json(crawl.patterns)
    while True:
        waiting = list(queries.waiting_pages(crawl.pk, now)[:TURN_SIZE])
        unknown = [page for page in waiting if not page.looks and not page.posting_id]
        doubted = {page.pk: doubt for page in unknown if (doubt := patterns.doubt(page.url))}
        for pk, doubt in doubted.items():
            Page.objects.filter(pk=pk).update(
                kind=Page.Kind.VALUELESS, decided_by="address", reason=doubt[:200], due_at=None
            )
        if len(doubted) < TURN_SIZE:
            return [page for page in waiting if page.pk not in doubted]


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


def _turn(crawl: Crawl, leased_until: datetime, pages: Sequence[Page]) -> CrawlBatch:
    return CrawlBatch(
        source_id=crawl.pk,
        leased_until=leased_until,
        crawled=crawl.source.kind == kinds.SITE,
        keen_tags=None if crawl.keen_tags is None else frozenset(crawl.keen_tags),
        pages=tuple(
            PageAssignment(
                page_id=page.pk,
                url=page.url,
                kind=page.kind,
                depth=page.depth,
                looks=page.looks,
                failures=page.failures,
                link_text=page.link_text,
                found_on_id=page.found_on_id,
                posting_id=page.posting_id,
            )
            for page in pages
        ),
    )


@transaction.atomic
def store_batch(turn: CrawlBatch, looks: Sequence[PageFetch], *, now: datetime) -> bool:
    """Store what a turn brought and end its lease; False if the lease was lost, and nothing is stored then."""
    # Postings of one source are stored under the lock of its schedule, which comes before that of its crawl.
    Schedule.objects.select_for_update().filter(pk=turn.source_id).first()
    crawls = Crawl.objects.select_related("source").select_for_update(of=("self",))
    crawl = crawls.filter(pk=turn.source_id, leased_until=turn.leased_until).first()
    if crawl is None:  # another has gone on with it, or the source was deleted
        return False
    patterns = Patterns.from_json(crawl.patterns)
    decided = [(look, _decide(look, patterns, now)) for look in looks]
    posting_ids = _store_postings(turn, decided, crawl.source.clock_rate)
    _store_index_pages(crawl, decided, now)
    _write_pages(decided, posting_ids)
    due_at = _next_page_at(crawl.pk)
    Crawl.objects.filter(pk=crawl.pk).update(
        patterns=_observed(patterns, turn, decided), leased_until=None, due_at=due_at
    )
    if turn.crawled and crawl.explored_at is None and (due_at is None or due_at > now):
        _know_profile(crawl, now)
    return True


def _know_profile(crawl: Crawl, now: datetime) -> None:
    """Learn when the site publishes as soon as what it shows was read: its first page was asked before all that."""
    Crawl.objects.filter(pk=crawl.pk).update(explored_at=now)
    learn_first_profiles([Learner(crawl.pk, crawl.source.clock_rate)], now=now)
    replan([crawl.pk], now=now)


Decided = Sequence[tuple[PageFetch, Decision]]


def _decide(look: PageFetch, patterns: Patterns, now: datetime) -> Decision:
    page, reading = look.page, look.reading
    seen = Seen(
        url=page.url,
        status=look.fetched.status,
        failure=look.fetched.failure.kind if look.fetched.failure else "",
        retry_after=look.fetched.failure.retry_after if look.fetched.failure else None,
        kind=reading.kind if reading else "",
        probability=reading.probability if reading else 0.0,
        run_length=reading.run_length if reading else 0,
        reasons=reading.reasons if reading else (look.problem,),
        presumed_news=page.posting_id is not None,
        noindex=reading.noindex if reading else False,
        known_kind=page.kind,
        leads_to_news=bool(reading and reading.index and _leads_to_news(reading.index, patterns)),
    )
    return after_fetch(seen, fetches=page.looks, failures=page.failures, now=now)


def _leads_to_news(index: IndexReading, patterns: Patterns) -> bool:
    return any(patterns.prior(link.url, link.text).news >= LIKELY for link in index.links[:MAX_GUESSED])


def _store_postings(turn: CrawlBatch, decided: Decided, clock_rate: float) -> dict[int, int]:
    """Store what news pages say; the posting of each page."""
    news = [look for look, decision in decided if decision.kind == Page.Kind.NEWS and look.reading]
    found: dict[int, int] = {}
    new = []
    for look in news:
        page = _posting_page(look)
        if page is None:
            continue
        if look.page.posting_id is None:
            new.append((look, page))
        else:
            postings.fill(look.page.posting_id, page)
            found[look.page.page_id] = look.page.posting_id
    ids = postings.store_articles(turn.source_id, [page for _, page in new])
    stored = {look.page.page_id: id for (look, _), id in zip(new, ids, strict=True) if id is not None}
    log_delays(stored, clock_rate=clock_rate)
    return found | stored


def _posting_page(look: PageFetch) -> PageOfPosting | None:
    if look.reading is None or look.reading.article is None:
        return None
    return PageOfPosting(look.fetched.url, look.reading.article, look.document, look.fetched.received_at)


def _store_index_pages(crawl: Crawl, decided: Decided, now: datetime) -> None:
    """Make index pages sources, and remember what they link to."""
    found = [
        (look, look.reading.index, decision)
        for look, decision in decided
        if decision.kind == Page.Kind.INDEX and look.reading and look.reading.index
    ]
    room = crawl.most_index_pages - Source.objects.filter(site_id=crawl.pk).count()
    wanted = [(look.page.url, index.about.title) for look, index, decision in found if decision.becomes_source]
    ids = sources.add_index_pages(crawl.pk, wanted[: max(0, room)])
    # They were asked just now, so that is their first retrieval.
    first = now + shortest_gap(crawl.source)
    Schedule.objects.bulk_create(
        [
            Schedule(source_id=pk, partition=partition(url), asked_at=now, due_at=first, reason="found by the crawl")
            for url, pk in ids.items()
        ],
        ignore_conflicts=True,
    )
    for look, index, _ in found:
        # What the further pages of a list show was shown on its first one before.
        found_on = ids.get(look.page.url, look.page.found_on_id)
        add_links(crawl, index.links, found_on=found_on, depth=look.page.depth, now=now)


def _write_pages(decided: Decided, posting_ids: dict[int, int]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            UPDATE retrieval_page SET kind = %s, probability = %s, decided_by = %s, reason = %s, looks = %s,
                failures = %s, due_at = %s, status = %s, looked_at = %s, posting_id = coalesce(%s, posting_id)
            WHERE id = %s
            """,
            [
                (
                    *(decision.kind, decision.probability, decision.decided_by, decision.reason[:200]),
                    *(decision.fetches, decision.failures, decision.due_at),
                    *(look.fetched.status, look.fetched.received_at),
                    *(posting_ids.get(look.page.page_id), look.page.page_id),
                )
                for look, decision in decided
            ],
        )


def _observed(patterns: Patterns, turn: CrawlBatch, decided: Decided) -> object:
    """What is learnt of the site's addresses, with what was found behind these.

    An index page that leads to no news is worth nothing, however many pages it links to: a calendar's, say.
    """
    for look, decision in decided if turn.crawled else ():
        if look.reading is not None and decision.kind in KINDS:
            leads = decision.kind != Page.Kind.INDEX or decision.becomes_source or is_continuation(look.page.url)
            patterns.observe(look.page.url, decision.kind if leads else Page.Kind.VALUELESS)
    return patterns.to_json()


def change_crawl(source_id: int, *, now: datetime, **limits: int) -> None:
    """Change the limits of a crawl; pages wait for tomorrow no longer if there is room today."""
    with transaction.atomic():
        lock_crawl(source_id, now=now)
        Crawl.objects.filter(pk=source_id).update(**limits, due_at=now)


@transaction.atomic
def decide_page(source_id: int, page_id: int, kind: str, *, now: datetime) -> bool:
    """Have an operator decide on a page: an empty kind means to look at it again. False if there is no such page."""
    page = Page.objects.filter(pk=page_id, source_id=source_id)
    if kind:
        return bool(page.update(kind=kind, probability=1.0, decided_by="operator", reason="", due_at=None))
    Crawl.objects.filter(pk=source_id).update(due_at=now)
    return bool(page.update(due_at=now, failures=0))


def set_keen_tags(source_id: int, tags: frozenset[str] | None, *, now: datetime) -> None:
    """Have the text of a source's pages found by keen tags of its own, or by the usual way."""
    with transaction.atomic():
        lock_crawl(source_id, now=now)
        Crawl.objects.filter(pk=source_id).update(keen_tags=None if tags is None else sorted(tags))
