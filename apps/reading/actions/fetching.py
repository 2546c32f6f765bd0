"""Fetches by the web server while a reader waits.

Each blocks a thread, so a process makes few at a time, and slow publishers do not block pages.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from apps.retrieval.http.fetching import Fetched, FetchRequest, Timeouts
from apps.retrieval.http.robots import fetch_all

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
    """Fetch at once, since a user opens a page."""
    [fetched] = fetch_all([request], host_gap=0.0, timeouts=timeouts)
    return fetched
