"""Fetching addresses as a site's robots.txt allows."""

import asyncio
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.core.cache import cache
from redis import RedisError

from apps.retrieval import queries
from apps.retrieval.algorithms.robots import BODY_LIMIT, UNAVAILABLE, allows, origin_of, rules_in
from apps.retrieval.http.fetching import Failure, Fetched, Fetcher, FetchRequest

logger = logging.getLogger(__name__)

MAX_KEPT_DOCUMENT_BYTES = 2**20  # bytes
KEPT_FOR = timedelta(days=1)


def fetch_all(requests: Sequence[FetchRequest], **options: Any) -> list[Fetched]:
    """The responses in the order of the requests, for callers that wait for them; guarded like requests to sources.

    `options` replace those of `Fetcher` by the settings. robots.txt, which is for autonomous crawlers, is not read.
    """

    async def fetch() -> list[Fetched]:
        async with Fetcher(**_options(lambda: datetime.now(UTC)) | options) as fetcher:
            return await asyncio.gather(*map(fetcher.fetch, requests))

    return asyncio.run(fetch()) if requests else []


def _options(clock: Callable[[], datetime]) -> dict[str, Any]:
    return {
        "version": settings.VERSION,
        "about": settings.PROJECT_URL,
        "open_hosts": settings.RETRIEVAL_OPEN_HOSTS,
        "host_gap": settings.RETRIEVAL_HOST_GAP,
        "clock": clock,
    }


class RobotsFetcher(Fetcher):
    """A fetcher that respects robots.txt."""

    def __init__(self, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(**_options(clock))
        self._learning: dict[str, asyncio.Task[str]] = {}  # origin -> request for its robots.txt
        self._learned: dict[str, str] = {}

    async def fetch_allowed(
        self, request: FetchRequest, robots: Mapping[str, str], *, crawling: bool = False
    ) -> Fetched:
        """Fetch an address unless robots.txt, known in `robots` by origin or fetched now, disallows it.

        A crawl also fetches nothing while the server fails to return its robots.txt.
        """
        rules = await self._rules(origin_of(request.url), robots)
        if not allows(rules, request.url, crawling=crawling):
            return Fetched(
                url=request.url,
                received_at=self._clock(),
                failure=Failure("robots", "The site's robots.txt does not allow automatic reading of this address."),
            )
        return await self.fetch(request)

    def take_learned_robots(self) -> dict[str, str]:
        """The robots.txt files fetched since the last call, by origin, for the caller to store."""
        learned, self._learned = self._learned, {}
        return learned

    async def _rules(self, origin: str, known: Mapping[str, str]) -> str:
        if origin in known:
            return known[origin]
        if origin in self._learned:
            return self._learned[origin]
        if origin not in self._learning:
            self._learning[origin] = asyncio.create_task(self._learn(origin))
        return await self._learning[origin]

    async def _learn(self, origin: str) -> str:
        try:
            fetched = await self.fetch(FetchRequest(url=f"{origin}/robots.txt", body_limit=BODY_LIMIT))
            if fetched.failure is not None:  # fetched again with the next address of the site
                return UNAVAILABLE
            rules = rules_in(fetched.status, fetched.body)
            self._learned[origin] = rules
            return rules
        finally:
            del self._learning[origin]


def document_at(url: str, *, now: datetime) -> tuple[Fetched, dict[str, str]]:
    """The document at an address that a user adds or tests, and the robots.txt files that were fetched for it.

    Of a planned source the document of its latest retrieval is returned, while it is kept. Other addresses are
    requested, but not again within the shortest gap.
    """
    schedule = queries.schedule_at(url)
    kept: Fetched | None = cache.get(_key(url))
    if kept is not None and (
        schedule is not None or now < kept.received_at + timedelta(seconds=settings.RETRIEVAL_MIN_GAP)
    ):
        return replace(kept, body=zlib.decompress(kept.body)), {}
    if schedule is not None and schedule.due_at is not None:
        message = f"The next check is at {schedule.due_at:%H:%M} UTC; until then there is nothing to show."
        return Fetched(url=url, received_at=now, failure=Failure("planned", message)), {}
    fetched, robots = asyncio.run(_fetch_once(FetchRequest(url=url), queries.fresh_robots([url], now)))
    if fetched.failure is None:
        keep_document(url, fetched)
    return fetched, robots


def keep_document(url: str, fetched: Fetched) -> None:
    """Keep a document for display in the cache, for a day at most."""
    if len(fetched.body) > MAX_KEPT_DOCUMENT_BYTES:
        return
    try:
        packed = replace(fetched, body=zlib.compress(fetched.body, level=1))
        cache.set(_key(url), packed, timeout=KEPT_FOR.total_seconds())
    except RedisError as error:
        logger.warning("the cache does not keep %s: %s", url, error)


def _key(url: str) -> str:
    return f"packed-document:{blake2b(url.encode(), digest_size=16).hexdigest()}"


async def _fetch_once(request: FetchRequest, robots: Mapping[str, str]) -> tuple[Fetched, dict[str, str]]:
    async with RobotsFetcher() as fetcher:
        return await fetcher.fetch_allowed(request, robots), fetcher.take_learned_robots()
