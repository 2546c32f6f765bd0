"""Telling hubs what is new (WebSub): of feeds that somebody asked for of late, and whose content has changed since.

A feed is looked at every half a minute, and less often where there are many or looking takes long. Whoever looks leases
the feed first and writes down what came of it in the end. Only who dies between a hub's "yes" and that has the
hub told twice, which then finds nothing new.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic, perf_counter

from django.db import transaction

from apps.database.backoff import next_delay
from apps.published_feeds.algorithms.states import State, state_of
from apps.published_feeds.models import RequestedFeed
from apps.published_feeds.queries import usage
from apps.published_feeds.queries.channels import Channel
from apps.published_feeds.queries.feeds import feed_of
from apps.retrieval.algorithms.open_hosts import Entry
from apps.retrieval.http import guard
from apps.retrieval.http.fetching import Fetched, Fetcher, FetchRequest
from apps.retrieval.http.robots import make_fetcher
from apps.search.queries import TooCostly

logger = logging.getLogger(__name__)

KEPT = timedelta(days=14)  # since somebody asked for it the last time
MAX_FEEDS = 5_000
NOTED_EVERY = timedelta(minutes=10)
GAP = timedelta(seconds=30)  # between two looks at a feed, so between two announcements
SHARE = 0.01  # of one process' time that may be spent on looking at one feed
LEASE = timedelta(seconds=90)  # longer than a look and an attempt may take
MAX_AT_ONCE = 50  # feeds looked at by one message of beat
MAX_RUN_SECONDS = 20.0  # s; what is left then is the next message's
PATIENCE = 10.0  # s with a hub: one that hangs must not hold all threads


# --- who asks ---------------------------------------------------------------------------------------------------------
def note_request(channel: Channel, form: str, state: State, *, now: datetime) -> bool:
    """Remember that somebody has a feed in this state, so that hubs are told when it changes; False if they are not.

    At most two queries for one that is known; nothing without a hub.
    """
    if not usage.hubs() or (channel.kind == "trends" and not state.prints):
        return False
    rows = RequestedFeed.objects.filter(kind=channel.kind, key=channel.key, form=form)
    if rows.filter(asked_at__lt=now - NOTED_EVERY).update(asked_at=now) or rows.exists():
        return True
    if RequestedFeed.objects.count() >= MAX_FEEDS:
        return False
    fresh = RequestedFeed(
        kind=channel.kind, key=channel.key, form=form, asked_at=now, digest=state.digest, due_at=now + GAP
    )
    RequestedFeed.objects.bulk_create([fresh], ignore_conflicts=True)  # others may have asked at the same time
    return True


def forget_unasked(*, now: datetime) -> int:
    """Drop feeds that nobody asks for any more; returns how many."""
    return RequestedFeed.objects.filter(asked_at__lt=now - KEPT).delete()[0]


# --- what changed -----------------------------------------------------------------------------------------------------
def announce_due(*, now: datetime) -> int:
    """Look at the feeds that are due, and tell hubs of what has changed; returns of how many feeds."""
    if not usage.hubs():
        return 0
    until, announced = monotonic() + MAX_RUN_SECONDS, 0
    for feed_id in usage.due(now, MAX_AT_ONCE):
        if monotonic() > until:
            break
        announced += announce(feed_id, now=now)
    return announced


def announce(feed_id: int, *, now: datetime) -> bool:
    """Look at a feed that is due, and tell hubs if it has changed; False if nobody had to be told, or was."""
    feed = _lease(feed_id, now)
    if feed is None:
        return False
    began = perf_counter()
    found = _look(feed, now)
    looked = perf_counter() - began
    if found is None:
        RequestedFeed.objects.filter(pk=feed_id, lease_until=feed.lease_until).delete()
        return False
    told: Sequence[_Told] = ()
    if found.waiting:
        told = _tell(found.waiting, Channel(feed.kind, feed.key).address(feed.form))  # type: ignore[arg-type]
    _finish(feed, found, told, now=now, looked=looked, took=perf_counter() - began)
    return any(not each.error for each in told)


@dataclass(frozen=True, slots=True)
class _Found:
    digest: str
    waiting: Sequence[str]  # hubs


@dataclass(frozen=True, slots=True)
class _Told:
    hub: str
    error: str  # "" if it took it


@transaction.atomic
def _lease(feed_id: int, now: datetime) -> RequestedFeed | None:
    rows = RequestedFeed.objects.select_for_update(skip_locked=True)
    feed = rows.filter(usage.free(now), pk=feed_id, due_at__lte=now).first()
    if feed is not None:
        feed.lease_until = now + LEASE
        feed.save(update_fields=["lease_until"])
    return feed


def _look(feed: RequestedFeed, now: datetime) -> _Found | None:
    """The feed's present state and who is to be told of it; None if there is no such feed any more."""
    channel = Channel(feed.kind, feed.key)  # type: ignore[arg-type]  # as it was noted
    hubs = usage.hubs()
    try:
        content = feed_of(channel, feed.form, now=now)
    except TooCostly:
        return _Found(feed.digest, feed.waiting_hubs)  # later
    if content is None:
        return None
    digest = state_of(content).digest
    waiting = hubs if digest != feed.digest else tuple(hub for hub in feed.waiting_hubs if hub in hubs)
    return _Found(digest, waiting)


@transaction.atomic
def _finish(
    feed: RequestedFeed, found: _Found, told: Sequence[_Told], *, now: datetime, looked: float, took: float
) -> None:
    row = RequestedFeed.objects.select_for_update().filter(pk=feed.pk, lease_until=feed.lease_until).first()
    if row is None:  # we took so long that somebody else is at it
        return
    failed = [each for each in told if each.error]
    if len(failed) < len(told):
        row.announced_at = now
    row.digest = found.digest
    row.attempts = row.attempts + 1 if failed else 0
    row.last_error = failed[0].error[:300] if failed else ""
    row.waiting_hubs = [each.hub for each in failed]
    wait = max(GAP, timedelta(seconds=looked / SHARE))
    if failed and (delay := next_delay(row.attempts)):
        wait = max(wait, delay)
    elif failed:
        logger.warning("hubs are not told of a change of feed %d: %s", row.pk, row.last_error)
        row.waiting_hubs, row.attempts = [], 0
    row.due_at, row.lease_until = now + timedelta(seconds=took) + wait, None
    row.save()


# --- hubs -------------------------------------------------------------------------------------------------------------
def _tell(hubs: Sequence[str], topic: str) -> list[_Told]:
    form = {"hub.mode": "publish", "hub.url": topic, "hub.topic": topic}
    requests = [FetchRequest(hub, form=form, accept="*/*", body_limit=0) for hub in hubs]
    complaints = asyncio.run(_ask_all(requests, [guard.entry_of(hub) for hub in hubs]))
    return [_Told(hub, complaint) for hub, complaint in zip(hubs, complaints, strict=True)]


async def _ask_all(requests: Sequence[FetchRequest], open_hosts: Sequence[Entry]) -> list[str]:
    # The admin names the hubs: they may lie on the portal's own network.
    async with make_fetcher(lambda: datetime.now(UTC), also_open=open_hosts) as fetcher:
        return await asyncio.gather(*(_ask(fetcher, request) for request in requests))


async def _ask(fetcher: Fetcher, request: FetchRequest) -> str:
    try:
        async with asyncio.timeout(PATIENCE):
            return _complaint(await fetcher.fetch(request))
    except TimeoutError:
        return f"It did not answer within {PATIENCE:.0f} seconds."


def _complaint(answer: Fetched) -> str:
    if 200 <= answer.status < 300:  # what else it says is nobody's business
        return ""
    if answer.status:
        return f"It answered with the status {answer.status}."
    return answer.failure.message if answer.failure else "It did not answer."
