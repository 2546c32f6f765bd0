"""Fetches by the web server while a reader waits.

Each blocks a thread, so a process makes few at a time, and slow publishers do not block pages.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore

from django.conf import settings

from apps.retrieval.http.fetching import Fetched, Fetcher, FetchRequest, Timeouts

WAIT_SECONDS = 1.0  # for a slot: the thread may be needed by another reader


class Busy(Exception):
    """All slots for fetches are taken."""


@contextmanager
def slot(slots: BoundedSemaphore) -> Iterator[None]:
    """Hold one of the slots; raises Busy if none becomes free in time."""
    if not slots.acquire(timeout=WAIT_SECONDS):
        raise Busy
    try:
        yield
    finally:
        slots.release()


def fetch(request: FetchRequest, timeouts: Timeouts) -> Fetched:
    """Fetch without robots.txt, which is for autonomous crawlers: here a user opens a page."""
    return asyncio.run(_fetch(request, timeouts))


async def _fetch(request: FetchRequest, timeouts: Timeouts) -> Fetched:
    fetcher = Fetcher(
        version=settings.VERSION,
        about=settings.PROJECT_URL,
        open_hosts=settings.RETRIEVAL_OPEN_HOSTS,
        clock=lambda: datetime.now(UTC),
        host_gap=0.0,
        timeouts=timeouts,
    )
    async with fetcher:
        return await fetcher.fetch(request)
