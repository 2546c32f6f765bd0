"""Deliveries: stored as they arrive, acknowledged at once, and processed by a task."""

import logging
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import parse_qs

from celery import current_app
from django.db import DatabaseError, transaction
from django.db.models import Count, F, Q, Sum

from apps.postings.actions import Document
from apps.retrieval import actions as retrieval
from apps.retrieval.http.decoding import Decoder, TooLarge, Undecodable
from apps.retrieval.http.fetching import BODY_LIMIT
from apps.retrieval.models import Schedule
from apps.sources import formats
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.kinds import kind_of
from apps.sources.models import Source
from apps.websub import queries
from apps.websub.algorithms.signatures import is_signed
from apps.websub.models import Delivery, Subscription

logger = logging.getLogger(__name__)

State = Delivery.State
TASK = "apps.websub.tasks.work"
MAX_PER_MINUTE, MAX_BYTES_PER_MINUTE = 120, 50 * 2**20  # of one subscription
MAX_ATTEMPTS = 5
KEPT = timedelta(days=7)
ENDED_KEPT = timedelta(days=30)  # during which hubs get 410 for an ended subscription


class Done(NamedTuple):
    """The result of processing a delivery."""

    state: State
    error: str = ""
    new: int = 0
    edited: int = 0


class NotYet(Exception):
    """It can only be processed a little later."""


@transaction.atomic
def receive(
    subscription_id: int, body: bytes, *, content_type: str, content_encoding: str, signature: str, now: datetime
) -> Delivery | None:
    """Store what a hub sends and enqueue a task on commit. Returns None beyond the rate limit."""
    recent = Delivery.objects.filter(subscription_id=subscription_id, received_at__gt=now - timedelta(minutes=1))
    used = recent.aggregate(count=Count("pk"), size=Sum("size", default=0))
    if used["count"] >= MAX_PER_MINUTE or used["size"] + len(body) > MAX_BYTES_PER_MINUTE:
        return None
    delivery = Delivery.objects.create(
        subscription_id=subscription_id,
        received_at=now,
        body=body,
        size=len(body),
        content_type=content_type[:300],
        content_encoding=content_encoding[:100],
        signature=signature[:300],
    )
    # Without the broker, the periodic task `retry_deliveries` finds the delivery.
    transaction.on_commit(lambda: _send_task(delivery.pk), robust=True)
    return delivery


def _send_task(delivery_id: int) -> None:
    current_app.send_task(TASK, args=[delivery_id], ignore_result=True, expires=queries.ATTEMPT.total_seconds())


def work(delivery_id: int, *, now: datetime) -> bool:
    """Process a waiting delivery; False if there is nothing to do, or another worker is processing it.

    The attempt is counted first: a delivery that kills its worker again and again is abandoned.
    """
    due = Q(tried_at__isnull=True) | Q(tried_at__lte=now - queries.LEFT_BEHIND)
    mine = Delivery.objects.filter(due, pk=delivery_id, state=State.WAITING)
    if not mine.update(attempts=F("attempts") + 1, tried_at=now):
        return False
    delivery = Delivery.objects.select_related("subscription__source").get(pk=delivery_id)
    if delivery.attempts > MAX_ATTEMPTS:
        _finish(delivery, Done(State.FAILED, delivery.error or "Its worker stopped."), now)
        return True
    try:
        with transaction.atomic():
            _finish(delivery, _work(delivery, now), now)
    except NotYet as reason:
        Delivery.objects.filter(pk=delivery_id).update(error=str(reason)[:300])
    except DatabaseError as error:
        logger.warning("delivery %d could not be stored and is tried again: %s", delivery_id, error)
        Delivery.objects.filter(pk=delivery_id).update(error="It could not be stored.")
    return True


def _finish(delivery: Delivery, done: Done, now: datetime) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(
        state=done.state,
        error=done.error[:300],
        new=done.new,
        edited=done.edited,
        done_at=now,
        body=delivery.body if done.state == State.FAILED else b"",
    )


def _work(delivery: Delivery, now: datetime) -> Done:
    subscription = delivery.subscription
    source, body = subscription.source, bytes(delivery.body)
    if source is None or subscription.state in queries.CLOSED:
        return Done(State.IGNORED, "The subscription has ended.")
    known = subscription.secrets_at(delivery.received_at)
    if known and not is_signed(delivery.signature, body, known):
        error = "Its signature is wrong." if delivery.signature else "It is not signed."
        return Done(State.IGNORED, error)
    if subscription.kind == Subscription.Kind.RSSCLOUD:
        return _handle_ping(delivery, source, now)
    try:
        feed = _read(delivery, body) if kind_of(source.kind).is_feed else None  # others are read from their own pages
    except (TooLarge, Undecodable) as error:
        return Done(State.IGNORED, str(error))
    if feed is None:
        return _request_check(source, now)
    document = Document(
        source_id=source.pk,
        entries=feed.entries,
        address=subscription.topic,
        feed_link=feed.link,
        language=feed.language,
        received_at=delivery.received_at,
    )
    stored = retrieval.store_sent(document, size=delivery.size)
    if stored is None:
        return Done(State.IGNORED, "The feed no longer has followers.")
    return Done(State.STORED, new=stored.new, edited=stored.edited)


def _read(delivery: Delivery, body: bytes) -> ParsedFeed | None:
    """The delivered feed; None if the body is no feed and only announces that there is something new."""
    decoder = Decoder(delivery.content_encoding, limit=BODY_LIMIT)
    decoder.feed(body)
    content = decoder.finish()
    try:
        return formats.parse(content, content_type=delivery.content_type, url=delivery.subscription.topic)
    except NotAFeed:
        return None


def _handle_ping(delivery: Delivery, source: Source, now: datetime) -> Done:
    """An rssCloud server names the changed address; it calls without one to test that we respond."""
    text = bytes(delivery.body)[:10_000].decode("utf-8", "replace")
    named = parse_qs(text, max_num_fields=20).get("url", []) if text.count("&") < 20 else []
    if delivery.subscription.topic not in named:
        return Done(State.IGNORED, "It does not name the subscribed address.")
    return _request_check(source, now)


def _request_check(source: Source, now: datetime) -> Done:
    if not Schedule.objects.filter(pk=source.pk, due_at__isnull=False).exists():
        return Done(State.IGNORED, "The feed no longer has followers.")
    check = retrieval.request_announced_check(source.pk, now=now)
    if check.reason == retrieval.BEING_CHECKED:
        raise NotYet(check.reason)  # the response under way may be older than this
    return Done(State.CHECKING)


def forget_old(*, now: datetime) -> int:
    """Delete old deliveries and ended subscriptions; returns the number of deliveries."""
    deleted, _ = Delivery.objects.filter(received_at__lt=now - KEPT).delete()
    Subscription.objects.filter(state=Subscription.State.ENDED, ended_at__lt=now - ENDED_KEPT).delete()
    return deleted
