"""Leases that open ports of this machine to a running portal, for as long as a lab's server runs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.core.cache import cache
from redis import RedisError

from apps.retrieval.algorithms.open_hosts import Entry
from apps.retrieval.http import guard

logger = logging.getLogger(__name__)

RENEW_SECONDS = 5.0


@contextmanager
def lease(text: str) -> Iterator[None]:
    """Open names below `localhost` on one port, such as ".replay.localhost:8700", for all processes of this portal.

    The entry is in the cache and expires soon after the last renewal, so that nothing stays open after a process was
    killed. Other entries raise ValueError, and have no effect in the cache.
    """
    entry = Entry.parse(text)
    if entry.port is None or not guard.is_loopback_name(str(entry.place)):
        raise ValueError(f"{text!r} cannot be leased: only one port of names below localhost can")
    key, ended = guard.lease_key(entry.port), Event()
    cache.set(key, text, timeout=guard.LEASE_SECONDS)
    renewal = Thread(target=_renew, args=(key, text, ended), name="lease", daemon=True)
    renewal.start()
    try:
        yield
    finally:
        ended.set()
        renewal.join()
        guard._seen.pop(entry.port, None)
        try:
            cache.delete(key)
        except RedisError as error:  # it expires by itself
            logger.warning("the lease of %s is not released: %s", text, error)


def _renew(key: str, text: str, ended: Event) -> None:
    while not ended.wait(RENEW_SECONDS):
        try:
            cache.set(key, text, timeout=guard.LEASE_SECONDS)
        except RedisError as error:
            logger.warning("the lease of %s is not renewed: %s", text, error)
