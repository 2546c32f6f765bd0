"""Pictures fetched for readers: once a day for all of them, within limits, and never where sources may not be.

What a publisher answers is kept among the documents for a day, so it lies on their storage, is checked by its hash and
goes by itself; the cache remembers which document belongs to which address, and for an hour where there is no picture.

A fetch takes a thread of the web server, so it has few places and little time. Who finds all places taken waits for a
moment and is sent away then: the thread may be the one that somebody needs to read.
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
from apps.reading.actions.fetching import Busy, fetch, place
from apps.reading.algorithms.picture_kinds import picture_in
from apps.retrieval.http.fetching import FetchRequest, Timeouts

AT_ONCE = 8  # fetches of this process, half of its threads: pages go on while publishers are slow
MAX_PIXELS = 64_000_000  # a quarter of a gigabyte in the reader's browser
TIMEOUTS = Timeouts(total=10.0, connect=5.0, read=5.0)
PATIENCE = TIMEOUTS.total + 2.0  # s, to wait for somebody else who fetches the same picture
LOOK_EVERY = 0.05  # s
KEPT_FOR = timedelta(days=1)
ABSENT_FOR = timedelta(hours=1)
ACCEPTED = "image/avif, image/webp, image/png, image/jpeg, image/gif, image/*;q=0.5"

_places = BoundedSemaphore(AT_ONCE)


class NoPicture(Exception):
    """There is no picture to show at an address; the message says why and holds nothing of the publisher's."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is at an address, as the cache remembers it."""

    digest: bytes = b""  # of the document; empty where there is no picture
    media_type: str = ""
    problem: str = ""  # why there is none
    body: bytes = b""  # of a picture fetched a moment ago; never in the cache


def find(address: str) -> Found:
    """The picture at an address: remembered, or fetched now.

    Raises
    ------
    Busy
        If it is to be fetched and cannot be, for now.
    NoPicture
        If there is none to show.
    """
    found: Found = cache.get(_key(address)) or _fetched_once(address)
    if not found.digest:
        raise NoPicture(found.problem)
    return found


def body_of(address: str, found: Found) -> bytes:
    """The bytes of the picture that was found at an address; one that was lost since is fetched again."""
    try:
        return found.body or read(found.digest).body
    except (DocumentLost, DocumentDamaged):
        cache.delete(_key(address))
        again = find(address)
        return again.body or read(again.digest).body


def _fetched_once(address: str) -> Found:
    """Fetch a picture, or wait for who fetches it already: another thread, process or machine."""
    key, turn = _key(address), f"{_key(address)}:turn"
    with place(_places):
        deadline = time.monotonic() + PATIENCE
        while not cache.add(turn, True, timeout=2 * PATIENCE):
            known: Found | None = cache.get(key)
            if known:
                return known
            if time.monotonic() > deadline:
                raise Busy
            time.sleep(LOOK_EVERY)
        try:
            # Between our look into the cache and our turn, another one's turn may have ended.
            return cache.get(key) or _remembered(key, _fetched(address), address, datetime.now(UTC))
        finally:
            cache.delete(turn)


def _remembered(key: str, found: Found, address: str, now: datetime) -> Found:
    """Keep what was found, if there is room for it; without any, it is fetched again for the next reader."""
    if not found.digest:
        cache.set(key, found, timeout=ABSENT_FOR.total_seconds())
    elif _has_room(len(found.body), now):
        days = KEPT_FOR // timedelta(days=1)
        documents.keep(found.body, url=address, content_type=found.media_type, now=now, days=days)
        cache.set(key, replace(found, body=b""), timeout=KEPT_FOR.total_seconds())
    return found


def _has_room(size: int, now: datetime) -> bool:
    """Whether a picture of so many bytes may be kept, and if so, count it: a day of UTC has room for only so many."""
    used = f"pictures:{now:%Y-%m-%d}"
    cache.add(used, 0, timeout=2 * KEPT_FOR.total_seconds())
    return bool(cache.incr(used, size) <= settings.PICTURES_PER_DAY)


def _fetched(address: str) -> Found:
    fetched = fetch(FetchRequest(address, accept=ACCEPTED), TIMEOUTS)
    if fetched.failure is not None:
        return Found(problem=f"Its site could not be asked ({fetched.failure.kind}).")
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
