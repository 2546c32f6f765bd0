"""Find the icon of a source: in its feed, on its site's page, in the web manifest, or at /favicon.ico."""

import asyncio
import logging
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Executor
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from apps.retrieval import sandbox
from apps.retrieval.algorithms.reading import read_icon
from apps.retrieval.crawler.page_fetches import PAGES_FIRST
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.robots import RobotsFetcher
from apps.sources.algorithms.addresses import absolute
from apps.sources.algorithms.icons import SiteIcons, icons_of_manifest, icons_of_page
from apps.sources.models import Source

logger = logging.getLogger(__name__)

MAX_PICTURES = 6  # fetched for one source
MAX_BYTES = 4 * 2**20  # per document; covers of podcasts are large
MAX_PNG_BYTES = 16 * 2**10
SEARCH_SECONDS = 120.0  # for one source
PICTURES_FIRST = "image/png, image/x-icon, image/webp, image/jpeg, image/gif, image/*;q=0.5, */*;q=0.1"
MANIFESTS_FIRST = "application/manifest+json, application/json;q=0.9, */*;q=0.1"

Result = TypeVar("Result")


def page_of(source: Source) -> str:
    """The address of the page that shows the icon."""
    return absolute(source.site_url) or absolute("/", source.url)


class IconFinder:
    """Searches on an event loop; hostile documents are read by child processes, for which threads wait."""

    def __init__(self, fetcher: RobotsFetcher, robots: Mapping[str, str], threads: Executor) -> None:
        self._fetcher, self._robots, self._threads = fetcher, robots, threads

    async def find(self, source: Source) -> bytes:
        """The icon as PNG; empty if there is none, and if the search fails or is too slow."""
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                return await self._find(source)
        except Exception:
            logger.warning("could not find the icon of source %d", source.pk, exc_info=True)
            return b""

    async def _find(self, source: Source) -> bytes:
        """The first candidate that can be shown."""
        tried: set[str] = set()
        async with aclosing(self._candidates(source)) as candidates:
            async for address in candidates:
                if address in tried or len(tried) == MAX_PICTURES:
                    continue
                tried.add(address)
                fetched = await self._fetch(address, PICTURES_FIRST)
                png = b64decode(await self._read(read_icon, fetched.body) or "") if fetched else b""
                if 0 < len(png) <= MAX_PNG_BYTES:
                    return png
        return b""

    async def _candidates(self, source: Source) -> AsyncGenerator[str, None]:
        if image_url := absolute(source.image_url):
            yield image_url
        page = await self._fetch(page_of(source), PAGES_FIRST)
        if page:
            found = await self._read(icons_of_page, page.body, url=page.url) or SiteIcons()
            for address in found.icons:
                yield address
            manifest = await self._fetch(found.manifest, MANIFESTS_FIRST) if found.manifest else None
            if manifest:
                for address in await self._read(icons_of_manifest, manifest.body, url=manifest.url) or ():
                    yield address
        yield absolute("/favicon.ico", page.url if page else page_of(source))

    async def _fetch(self, address: str, accept: str) -> Fetched | None:
        request = FetchRequest(address, accept=accept, body_limit=MAX_BYTES, low_priority=True)
        fetched = await self._fetcher.fetch_allowed(request, self._robots)
        return fetched if fetched.failure is None and fetched.status == 200 else None

    async def _read(self, function: Callable[..., Result], *arguments: Any, **named: Any) -> Result | None:
        """The result of a function in a child process; None if it fails or is too slow."""
        call = partial(sandbox.run, function, *arguments, **named)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except ValueError:
            return None
