"""Proxied pictures: fetched once a day for all readers, within limits, and never from forbidden networks.

Pictures are stored as documents for a day: on their storage, verified by hash, and expired with them. The cache maps
addresses to documents; that there is no picture at an address is cached for an hour.
"""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from threading import BoundedSemaphore

from django.conf import settings
from django.core.cache import cache

from apps.documents import actions as documents
from apps.documents.algorithms.packing import hash_of
from apps.documents.queries import DocumentDamaged, DocumentLost, read
from apps.reading.actions.fetching import Busy, fetch, slot
from apps.reading.algorithms.picture_kinds import picture_in
from apps.retrieval.http.fetching import FetchRequest, Timeouts

MAX_FETCHES = 8  # at a time in this process, half of its threads
MAX_PIXELS = 64_000_000  # 256 MB in the reader's browser
TIMEOUTS = Timeouts(total=10.0, connect=5.0, read=5.0)
WAIT_SECONDS = TIMEOUTS.total + 2.0  # for another worker that fetches the same picture
POLL_SECONDS = 0.05
KEPT_FOR = timedelta(days=1)
ABSENT_FOR = timedelta(hours=1)
ACCEPTED = "image/avif, image/webp, image/png, image/jpeg, image/gif, image/*;q=0.5"

_slots = BoundedSemaphore(MAX_FETCHES)


class NoPicture(Exception):
    """There is no picture to show at an address; the message contains nothing from the publisher."""


@dataclass(frozen=True, slots=True)
class Found:
    """The cached result for an address."""

    digest: bytes = b""  # of the document; empty without a picture
    media_type: str = ""
    problem: str = ""  # why there is no picture
    body: bytes = b""  # of a picture that was just fetched; never in the cache


def find(address: str) -> Found:
    """The picture at an address, cached or fetched now; raises Busy if it cannot be fetched now, and NoPicture."""
    found: Found = cache.get(_key(address)) or _fetched_once(address)
    if not found.digest:
        raise NoPicture(found.problem)
    return found


def body_of(address: str, found: Found) -> bytes:
    """The bytes of a picture; fetched again if the document was lost."""
    try:
        return found.body or read(found.digest).body
    except (DocumentLost, DocumentDamaged):
        cache.delete(_key(address))
        again = find(address)
        return again.body or read(again.digest).body


def _fetched_once(address: str) -> Found:
    """Fetch a picture, or wait for another thread, process or machine that already fetches it."""
    key, lock = _key(address), f"{_key(address)}:lock"
    with slot(_slots):
        deadline = time.monotonic() + WAIT_SECONDS
        while not cache.add(lock, True, timeout=2 * WAIT_SECONDS):
            known: Found | None = cache.get(key)
            if known:
                return known
            if time.monotonic() > deadline:
                raise Busy
            time.sleep(POLL_SECONDS)
        try:
            # Another worker may have finished between the cache miss and the lock.
            return cache.get(key) or _remembered(key, _fetched(address), address, datetime.now(UTC))
        finally:
            cache.delete(lock)


def _remembered(key: str, found: Found, address: str, now: datetime) -> Found:
    """Store the result if the day's quota allows; otherwise it is fetched again for the next reader."""
    if not found.digest:
        cache.set(key, found, timeout=ABSENT_FOR.total_seconds())
    elif _has_room(len(found.body), now):
        days = KEPT_FOR // timedelta(days=1)
        documents.keep(found.body, url=address, content_type=found.media_type, now=now, days=days)
        cache.set(key, replace(found, body=b""), timeout=KEPT_FOR.total_seconds())
    return found


def _has_room(size: int, now: datetime) -> bool:
    """Count the bytes of a picture; whether they fit into the quota of the day (UTC)."""
    used = f"pictures:{now:%Y-%m-%d}"
    cache.add(used, 0, timeout=2 * KEPT_FOR.total_seconds())
    return bool(cache.incr(used, size) <= settings.PICTURES_PER_DAY)


def _fetched(address: str) -> Found:
    fetched = fetch(FetchRequest(address, accept=ACCEPTED), TIMEOUTS)
    if fetched.failure is not None:
        return Found(problem=f"Its site could not be reached ({fetched.failure.kind}).")
    if fetched.status != 200:
        return Found(problem=f"Its site answers with the status {fetched.status}.")
    picture = picture_in(fetched.body)
    if picture is None:
        return Found(problem="What its site sends is no picture of a kind that is shown.")
    if picture.pixels > MAX_PIXELS:
        return Found(problem=f"It has more than {MAX_PIXELS:,} pixels.")
    return Found(hash_of(fetched.body), picture.media_type, body=fetched.body)


def _key(address: str) -> str:
    return f"picture:{blake2b(address.encode(), digest_size=16).hexdigest()}"
