"""Notify WebSub hubs of requested feeds whose content has changed.

Each feed is checked every half minute, less often if the check is expensive. The process that checks a feed holds its
lease and stores the outcome at the end; if it dies after notifying a hub, the hub is notified twice, which is harmless.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from time import monotonic, perf_counter

from django.db import transaction
from django.db.models import Q

from apps.database.backoff import next_delay
from apps.published_feeds.algorithms.states import tag_of
from apps.published_feeds.models import RequestedFeed
from apps.published_feeds.queries.channels import Channel, hubs
from apps.published_feeds.queries.feeds import feed_of
from apps.retrieval.http import guard
from apps.retrieval.http.fetching import Fetcher, FetchRequest
from apps.retrieval.http.robots import make_fetcher
from apps.search.queries import TooCostly

logger = logging.getLogger(__name__)

MAX_AGE = timedelta(days=14)  # since the last request for a feed
MAX_FEEDS = 5_000
REQUEST_NOTED_EVERY = timedelta(minutes=10)
CHECK_GAP = timedelta(seconds=30)  # between two checks of a feed, so between two announcements
CHECK_SHARE = 0.01  # of one process' time that checks of one feed may take
LEASE = timedelta(seconds=90)  # longer than a check with its notifications
MAX_AT_ONCE = 50  # feeds checked per task
MAX_RUN_SECONDS = 20.0  # the next task checks the rest
HUB_TIMEOUT_SECONDS = 10.0


def note_request(channel: Channel, form: str, tag: str, *, now: datetime) -> None:
    """Note that a feed was requested in the state of an entity tag, so that hubs are notified of its changes.

    At most two queries for a known feed; none without a hub.
    """
    if not hubs():
        return
    rows = RequestedFeed.objects.filter(kind=channel.kind, key=channel.key, form=form)
    if rows.filter(requested_at__lt=now - REQUEST_NOTED_EVERY).update(requested_at=now) or rows.exists():
        return
    if RequestedFeed.objects.count() >= MAX_FEEDS:
        return
    fresh = RequestedFeed(
        kind=channel.kind, key=channel.key, form=form, requested_at=now, digest=_digest(tag), due_at=now + CHECK_GAP
    )
    RequestedFeed.objects.bulk_create([fresh], ignore_conflicts=True)  # a concurrent request may insert the same


def _digest(tag: str) -> str:
    return sha256(tag.encode()).hexdigest()


def forget_unused(*, now: datetime) -> int:
    """Delete feeds that were not requested for 14 days; returns their number."""
    return RequestedFeed.objects.filter(requested_at__lt=now - MAX_AGE).delete()[0]


def announce_due(*, now: datetime) -> int:
    """Check the feeds that are due and notify hubs of changes; returns the number of announced feeds."""
    if not hubs():
        return 0
    until, announced = monotonic() + MAX_RUN_SECONDS, 0
    due = RequestedFeed.objects.filter(_free(now), due_at__lte=now).order_by("due_at")
    for feed_id in due.values_list("pk", flat=True)[:MAX_AT_ONCE]:
        if monotonic() > until:
            break
        announced += _announce(feed_id, now=now)
    return announced


def _free(now: datetime) -> Q:
    """No process holds the lease, or it has expired."""
    return Q(lease_until=None) | Q(lease_until__lte=now)


@dataclass(frozen=True, slots=True)
class _Check:
    digest: str
    waiting: Sequence[str]  # hubs to notify
    seconds: float  # that the check took


def _announce(feed_id: int, *, now: datetime) -> bool:
    """Check a due feed; True if it has changed and at least one hub was notified."""
    feed = _lease(feed_id, now)
    if feed is None:
        return False
    began = perf_counter()
    check = _checked(feed, now)
    if check is None:
        RequestedFeed.objects.filter(pk=feed_id, lease_until=feed.lease_until).delete()
        return False
    errors = _notify(check.waiting, Channel(feed.kind, feed.key).address(feed.form))  # type: ignore[arg-type]
    _finish(feed, check, errors, now=now, took=perf_counter() - began)
    return not all(errors.values())


@transaction.atomic
def _lease(feed_id: int, now: datetime) -> RequestedFeed | None:
    rows = RequestedFeed.objects.select_for_update(skip_locked=True)
    feed = rows.filter(_free(now), pk=feed_id, due_at__lte=now).first()
    if feed is not None:
        feed.lease_until = now + LEASE
        feed.save(update_fields=["lease_until"])
    return feed


def _checked(feed: RequestedFeed, now: datetime) -> _Check | None:
    """The feed's present state and the hubs to notify; None if the feed no longer exists."""
    began = perf_counter()
    try:
        content = feed_of(Channel(feed.kind, feed.key), feed.form, now=now)  # type: ignore[arg-type]  # as noted
    except TooCostly:
        return _Check(feed.digest, feed.waiting_hubs, perf_counter() - began)  # compared at the next check
    if content is None:
        return None
    digest = _digest(tag_of(content))
    waiting = hubs() if digest != feed.digest else tuple(hub for hub in hubs() if hub in feed.waiting_hubs)
    return _Check(digest, waiting, perf_counter() - began)


@transaction.atomic
def _finish(feed: RequestedFeed, check: _Check, errors: dict[str, str], *, now: datetime, took: float) -> None:
    row = RequestedFeed.objects.select_for_update().filter(pk=feed.pk, lease_until=feed.lease_until).first()
    if row is None:  # the lease expired, and another process has the feed
        return
    failed = {hub: error for hub, error in errors.items() if error}
    if len(failed) < len(errors):
        row.announced_at = now
    row.digest = check.digest
    row.attempts = row.attempts + 1 if failed else 0
    row.last_error = next(iter(failed.values()), "")[:300]
    row.waiting_hubs = list(failed)
    wait = max(CHECK_GAP, timedelta(seconds=check.seconds / CHECK_SHARE))
    if failed and (delay := next_delay(row.attempts)):
        wait = max(wait, delay)
    elif failed:
        logger.warning("hubs cannot be notified of a change of feed %d: %s", row.pk, row.last_error)
        row.waiting_hubs, row.attempts = [], 0
    row.due_at, row.lease_until = now + timedelta(seconds=took) + wait, None
    row.save()


def _notify(hubs: Sequence[str], topic: str) -> dict[str, str]:
    """Notify hubs of a changed feed; the error of each, "" on success."""
    form = {"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}

    async def notify_all() -> list[str]:
        # Hubs are named by the operator and may be on a private network.
        open_hosts = [guard.entry_of(hub) for hub in hubs]
        async with make_fetcher(lambda: datetime.now(UTC), also_open=open_hosts) as fetcher:
            requests = (FetchRequest(hub, form=form, accept="*/*", body_limit=0) for hub in hubs)
            return await asyncio.gather(*(_error(fetcher, request) for request in requests))

    return dict(zip(hubs, asyncio.run(notify_all()), strict=True)) if hubs else {}


async def _error(fetcher: Fetcher, request: FetchRequest) -> str:
    try:
        async with asyncio.timeout(HUB_TIMEOUT_SECONDS):
            response = await fetcher.fetch(request)
    except TimeoutError:
        return f"It did not answer within {HUB_TIMEOUT_SECONDS:.0f} seconds."
    if response.status:
        return "" if 200 <= response.status < 300 else f"It answered with the status {response.status}."
    return response.failure.message if response.failure else "It did not answer."
