"""Find the icons of sources: in the feed, on the site's page, in its web manifest, and at /favicon.ico.

Sources of one site are searched one after another, so that a due feed waits for at most one request for an icon.
"""

import asyncio
import logging
from base64 import b64decode
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import ParamSpec, TypeVar

from apps.retrieval import queries, sandbox
from apps.retrieval.algorithms.icons import small_icon
from apps.retrieval.crawler.page_fetches import PAGES_FIRST
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.rate_limiter import HostBusy
from apps.retrieval.http.robots import RobotsFetcher
from apps.sources.actions import IconSearch, begin_icon_search, finish_icon_search
from apps.sources.algorithms.addresses import absolute
from apps.sources.algorithms.icons import SiteIcons, icons_of_manifest, icons_of_page

logger = logging.getLogger(__name__)

MAX_PICTURES = 6  # fetched for one source
MAX_PICTURE_BYTES = 4 * 2**20  # the cover of a podcast
MAX_PNG_BYTES = 16 * 2**10
SEARCH_SECONDS = 120.0  # for one source
BEGIN_SECONDS = 30.0  # after which a task begins no further search
PICTURES_FIRST = "image/png, image/x-icon, image/webp, image/jpeg, image/gif, image/*;q=0.5, */*;q=0.1"
MANIFESTS_FIRST = "application/manifest+json, application/json;q=0.9, */*;q=0.1"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class IconFinder:
    """Searches on the engine's event loop; one thread pool serves the database, one the child processes."""

    def __init__(
        self, fetcher: RobotsFetcher, *, storing: Executor, reading: Executor, clock: Callable[[], datetime]
    ) -> None:
        self._fetcher, self._storing, self._reading, self._clock = fetcher, storing, reading, clock

    async def find(self, due: Iterable[tuple[int, int]]) -> None:
        """Search for the icons of sources, given with their partitions. Nothing is raised."""
        by_site: defaultdict[int, list[int]] = defaultdict(list)
        for source_id, partition in due:
            by_site[partition].append(source_id)
        await asyncio.gather(*(self._find_in_turn(source_ids) for source_ids in by_site.values()))

    async def _find_in_turn(self, source_ids: Iterable[int]) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + BEGIN_SECONDS
        for source_id in source_ids:
            if loop.time() > until:
                return
            try:
                await self._find_one(source_id)
            except HostBusy:  # it is due again after its lease
                return
            except Exception:
                logger.exception("could not store the icon of source %d", source_id)

    async def _find_one(self, source_id: int) -> None:
        loop = asyncio.get_running_loop()
        search, robots = await loop.run_in_executor(self._storing, self._begin, source_id)
        if search is None:
            return
        png = await self._search(search, robots)
        await loop.run_in_executor(self._storing, lambda: finish_icon_search(search, png, now=self._clock()))

    def _begin(self, source_id: int) -> tuple[IconSearch | None, Mapping[str, str]]:
        now = self._clock()
        search = begin_icon_search(source_id, now=now)
        return search, queries.fresh_robots([_page_of(search)], now) if search else {}

    async def _search(self, search: IconSearch, robots: Mapping[str, str]) -> bytes:
        """The icon; empty if there is none, and if the search fails or is too slow, so that it backs off."""
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                return await self._icon_of(search, robots)
        except HostBusy:
            raise
        except Exception:
            logger.warning("could not find the icon of source %d", search.source_id, exc_info=True)
            return b""

    async def _icon_of(self, search: IconSearch, robots: Mapping[str, str]) -> bytes:
        """The first candidate that can be shown; empty without one."""
        tried: set[str] = set()
        async with aclosing(self._candidates(search, robots)) as candidates:
            async for address in candidates:
                if address in tried or len(tried) == MAX_PICTURES:
                    continue
                tried.add(address)
                fetched = await self._fetch(address, PICTURES_FIRST, robots, limit=MAX_PICTURE_BYTES)
                png = b64decode(await self._apart("", small_icon, fetched.body)) if fetched else b""
                if 0 < len(png) <= MAX_PNG_BYTES:
                    return png
        return b""

    async def _candidates(self, search: IconSearch, robots: Mapping[str, str]) -> AsyncIterator[str]:
        if image_url := absolute(search.image_url):
            yield image_url
        page = await self._fetch(_page_of(search), PAGES_FIRST, robots)
        if page:
            found = await self._apart(SiteIcons(), icons_of_page, page.body, url=page.url)
            for address in found.icons:
                yield address
            manifest = await self._fetch(found.manifest, MANIFESTS_FIRST, robots) if found.manifest else None
            if manifest:
                for address in await self._apart((), icons_of_manifest, manifest.body, url=manifest.url):
                    yield address
        yield absolute("/favicon.ico", page.url if page else _page_of(search))

    async def _fetch(
        self, address: str, accept: str, robots: Mapping[str, str], *, limit: int | None = None
    ) -> Fetched | None:
        """A successful response, or None; raises HostBusy if the request was not sent."""
        request = FetchRequest(address, accept=accept, **({"body_limit": limit} if limit else {}))
        fetched = await self._fetcher.fetch_allowed(request, robots)
        if fetched.failure is not None and fetched.failure.retry_after is not None:
            raise HostBusy(fetched.failure.retry_after)
        return fetched if fetched.failure is None and fetched.status == 200 else None

    async def _apart(
        self,
        otherwise: Result,
        function: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Result:
        """The result of a function in a child process, or `otherwise` if it fails or is too slow."""
        call = partial(sandbox.run, function, *arguments, **named)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._reading, call)
        except ValueError:
            return otherwise


def _page_of(search: IconSearch) -> str:
    return absolute(search.site_url) or absolute("/", search.url)
