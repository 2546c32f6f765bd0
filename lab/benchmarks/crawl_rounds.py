"""Rounds of the portal's crawler over the made-up site: costs and results."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.db.models import Max
from django.db.models.functions import Coalesce

from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Crawl, Page, Schedule
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.worker.engine import Engine
from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from lab.worlds.crawled_server import CrawledServer
from lab.worlds.crawled_site import CrawledSite

UNLIMITED = 10_000_000


@dataclass(frozen=True, slots=True)
class Round:
    """One round over the site."""

    requests: Counter[str]
    seconds: float

    @property
    def count(self) -> int:
        return sum(self.requests.values())


def begin(url: str) -> int:
    """Add a site to be crawled without any limit of time."""
    site_id = add_source(Source(url=url, kind="site", always_retrieved=True, min_gap=0))
    adopt_sources(now=datetime.now(UTC))
    Crawl.objects.create(source_id=site_id, pages_per_day=UNLIMITED, max_pages=UNLIMITED)
    return site_id


def crawl(engine: Engine, server: CrawledServer, site_id: int, progress: Callable[[], None] = lambda: None) -> Round:
    """Fetch the front page and all index pages, then new pages until none is left.

    `progress` is called after each batch.
    """
    began = time.monotonic()
    visit(engine, site_id)
    while engine.fetch_batch(site_id):
        progress()
    return Round(server.take_requests(), time.monotonic() - began)


def visit(engine: Engine, site_id: int) -> None:
    """Retrieve the front page and the index pages now, as if they were due."""
    now = time.time()
    schedules = Schedule.objects.annotate(site=Coalesce("source__site_id", "source_id")).filter(site=site_id)
    claims = [Claim(source_id, sequence, now, now) for source_id, sequence in schedules.values_list("pk", "sequence")]
    for start in range(0, len(claims), 25):
        engine.retrieve(claims[start : start + 25], worker="")


def measure(site: CrawledSite, site_id: int, first: Round, later: list[Round], known: int) -> dict[str, float]:
    """Figures of a crawl: shares of articles stored, requests of each kind."""
    articles = {site.base + site.article_path(number) for number in range(site.published)}
    stored = set(Posting.objects.filter(source_id=site_id).values_list("url", flat=True))
    fetched = Counter[int]()
    for requests in (first.requests, *(each.requests for each in later)):
        for path, count in requests.items():
            # Printed copies are other pages: that they show the same is unknown before they are read.
            if (number := site.article_of(path)) is not None and not path.startswith(("/print/", "/private/")):
                fetched[number] += count
    revisits = Counter[str]()
    for each in later:
        revisits.update(path for path in each.requests if site.article_of(path) is None)
    per_round = sum(each.count for each in later) / len(later)
    return {
        "pages": known,
        "articles": site.published,
        "coverage": len(articles & stored) / len(articles),
        "postings": len(stored),
        "fetched_more_than_once": sum(count > 1 for count in fetched.values()),
        "first_round_requests": first.count,
        "later_round_requests": per_round,
        "saved": 1 - per_round / known,
        "revisited_pages": len(revisits),
        "revisited_no_index": len({urlsplit(path).path for path in revisits} - site.index_paths()),
        "forbidden_requests": sum(
            count
            for each in (first, *later)
            for path, count in each.requests.items()
            if path.startswith(("/private/", "/search"))
        ),
        "trap_requests": sum(
            count for each in (first, *later) for path, count in each.requests.items() if path.startswith("/calendar")
        ),
        "index_pages": Source.objects.filter(site_id=site_id).count(),
        "greatest_depth": Page.objects.filter(source_id=site_id).aggregate(most=Max("depth"))["most"] or 0,
        "pages_per_s": first.count / first.seconds,
    }
