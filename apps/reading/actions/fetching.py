"""Fetches that the web server makes while a reader waits.

Each takes a thread, so a process makes few of them at a time, and pages go on while publishers are slow.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import BoundedSemaphore

from django.conf import settings

from apps.retrieval.http.fetching import Fetched, Fetcher, FetchRequest, Timeouts

WAIT_SECONDS = 1.0  # for a place; the thread may be the one that another reader needs


class Busy(Exception):
    """All places for fetches are taken."""


@contextmanager
def place(places: BoundedSemaphore) -> Iterator[None]:
    """Hold one of the places.

    Raises
    ------
    Busy
        If none becomes free in time.
    """
    if not places.acquire(timeout=WAIT_SECONDS):
        raise Busy
    try:
        yield
    finally:
        places.release()


def fetch(request: FetchRequest, timeouts: Timeouts) -> Fetched:
    """Fetch without regard to robots.txt, which is for programs that act alone: here a person looks at a page."""
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
