"""Subscriptions: begun where a source names a hub, confirmed by the hub, renewed, and ended."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.urls import reverse

from apps.retrieval import actions as retrieval
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.robots import fetch_all
from apps.sources.algorithms.hubs import RSSCLOUD
from apps.websub import queries
from apps.websub.algorithms import leases
from apps.websub.algorithms.forms import Mode, cloud_form, hub_form, refusal_of
from apps.websub.models import Subscription

State, Kind = Subscription.State, Subscription.Kind
MAX_BEGUN = 500  # at once
MAX_REQUESTS = 50  # at once: most of them one after another, since many sources share one hub
MAX_UNSUBSCRIBE_ATTEMPTS = 3  # requests to end a subscription
REPEATED_WITHIN = timedelta(minutes=10)  # a hub that missed our response may verify again
MAX_CHALLENGE_LENGTH = 2_000  # characters
RESPONSE_LIMIT = 64 * 1024  # bytes


def maintain(*, now: datetime) -> int:
    """Expire, begin, end and renew subscriptions; returns how many requests were sent."""
    expire(now=now)
    reconcile(now=now)
    return send_due(now=now)


# --- which subscriptions there are --------------------------------------------------------------------------------
@transaction.atomic
def reconcile(*, now: datetime) -> None:
    """Begin subscriptions where sources name hubs, and end unwanted ones."""
    base = queries.base()
    for subscription in queries.unwanted(base).select_for_update(of=("self",)):
        _end(subscription, now)
    if base:
        named = queries.missing().order_by("source_id").only("hub_url", "topic_url")[:MAX_BEGUN]
        begun = [_new(base, each.source_id, each.hub_url, each.topic_url, now) for each in named]
        Subscription.objects.bulk_create(begun, ignore_conflicts=True)


def _new(base: str, source_id: int, hub: str, topic: str, now: datetime) -> Subscription:
    token = secrets.token_urlsafe(32)
    return Subscription(
        source_id=source_id,
        kind=Kind.RSSCLOUD if hub.startswith(RSSCLOUD) else Kind.WEBSUB,
        hub=hub,
        topic=topic,
        token=token,
        callback=f"{base}{reverse('push', args=[token])}",
        due_at=now,
    )


def _end(subscription: Subscription, now: datetime) -> None:
    """End a locked subscription; a hub with a running lease must be notified. rssCloud servers just forget us."""
    must_unsubscribe = subscription.kind == Kind.WEBSUB and subscription.expires_at is not None
    Subscription.objects.filter(pk=subscription.pk).update(
        state=State.ENDING if must_unsubscribe else State.ENDED,
        due_at=now if must_unsubscribe else None,
        ended_at=now,
        expires_at=None,
        failures=0,
    )
    _promise(subscription, None, now)


def _promise(subscription: Subscription, until: datetime | None, now: datetime) -> None:
    if subscription.source_id is not None:
        retrieval.set_push_lease(subscription.source_id, until, now=now)


@transaction.atomic
def expire(*, now: datetime) -> None:
    """End leases that were not renewed in time: their sources are checked as often as any other from now on."""
    for subscription in Subscription.objects.filter(expires_at__lte=now).select_for_update(skip_locked=True):
        state = State.PENDING if subscription.state == State.ACTIVE else subscription.state
        Subscription.objects.filter(pk=subscription.pk).update(state=state, expires_at=None)
        _promise(subscription, None, now)


# --- requests -----------------------------------------------------------------------------------------------------
def send_due(*, now: datetime) -> int:
    """Send the requests that are due; returns how many. Each is recorded first, so after a crash it is repeated."""
    claimed = _claim(now)
    responses = fetch_all([_request(subscription) for subscription in claimed])
    for subscription, response in zip(claimed, responses, strict=True):
        _note(subscription, response, now)
    return len(claimed)


@transaction.atomic
def _claim(now: datetime) -> list[Subscription]:
    due = Subscription.objects.filter(due_at__lte=now).order_by("due_at").select_for_update(skip_locked=True)
    claimed = [subscription for subscription in due[:MAX_REQUESTS] if _begin_request(subscription, now)]
    Subscription.objects.bulk_update(claimed, ["state", "offered_secret", "requested_at", "failures", "due_at"])
    return claimed


def _begin_request(subscription: Subscription, now: datetime) -> bool:
    """Record a request in a locked subscription; False if enough requests to end it were sent."""
    if subscription.state == State.ENDING and subscription.failures >= MAX_UNSUBSCRIBE_ATTEMPTS:
        Subscription.objects.filter(pk=subscription.pk).update(state=State.ENDED, due_at=None)
        return False
    # One secret for all requests until one is confirmed: it is unknown which of them the hub uses. None for a hub
    # without TLS, where others could read it.
    if subscription.hub.startswith("https:"):
        subscription.offered_secret = subscription.offered_secret or secrets.token_urlsafe(32)
    subscription.failures += 1
    subscription.requested_at = now
    subscription.due_at = now + leases.until_repetition(subscription.failures)
    if subscription.state != State.ENDING:
        failed = subscription.failures >= leases.MAX_FAILURES
        live = subscription.expires_at is not None
        subscription.state = State.FAILED if failed else State.ACTIVE if live else State.PENDING
    return True


def _request(subscription: Subscription) -> FetchRequest:
    callback, topic = subscription.callback, subscription.topic
    if subscription.kind == Kind.RSSCLOUD:
        form, address = cloud_form(callback=callback, topic=topic), subscription.hub.removeprefix(RSSCLOUD)
    else:
        mode: Mode = "unsubscribe" if subscription.state == State.ENDING else "subscribe"
        form = hub_form(
            mode, callback=callback, topic=topic, lease=leases.REQUESTED, secret=subscription.offered_secret
        )
        address = subscription.hub
    return FetchRequest(url=address, form=form, accept="*/*", body_limit=RESPONSE_LIMIT)


def _note(claimed: Subscription, response: Fetched, now: datetime) -> None:
    """Record the result of a request, unless the hub has confirmed it meanwhile."""
    open_request = Subscription.objects.filter(pk=claimed.pk, requested_at=claimed.requested_at, failures__gt=0)
    if response.failure is not None and response.failure.retry_after is not None:  # no request was sent
        due_at = now + timedelta(seconds=response.failure.retry_after)
        open_request.update(due_at=due_at, failures=F("failures") - 1)
        return
    error = _error_in(claimed, response)
    if not error and claimed.kind == Kind.RSSCLOUD:
        with transaction.atomic():
            for subscription in open_request.select_for_update():
                _activate(subscription, leases.RSSCLOUD, now)
        return
    open_request.update(last_error=(error or "The hub has not confirmed the latest request yet.")[:300])


def _error_in(claimed: Subscription, response: Fetched) -> str:
    if response.failure is not None:
        return response.failure.message
    if not 200 <= response.status < 300:
        return f"The hub answered with status {response.status}."
    refusal = refusal_of(response.body) if claimed.kind == Kind.RSSCLOUD else ""
    return f"The hub refused the request: {refusal}" if refusal else ""


# --- calls of hubs ------------------------------------------------------------------------------------------------
@transaction.atomic
def confirm(token: str, *, mode: str, topic: str, challenge: str, lease_seconds: str, now: datetime) -> str | None:
    """Verify a hub's request (WebSub, section 5.3): the challenge to return, or None if we sent no such request.

    The lease starts now.
    """
    subscription = Subscription.objects.select_for_update().filter(token=token, kind=Kind.WEBSUB, topic=topic).first()
    if subscription is None or not 0 < len(challenge) <= MAX_CHALLENGE_LENGTH:
        return None
    if mode == "unsubscribe" and subscription.state in {State.ENDING, State.ENDED}:
        Subscription.objects.filter(pk=subscription.pk).update(state=State.ENDED, due_at=None)
        return challenge
    if mode != "subscribe" or subscription.state in queries.CLOSED:
        return None
    if subscription.is_unconfirmed:
        _activate(subscription, leases.granted(lease_seconds), now)
        return challenge
    verified_at = subscription.verified_at
    return challenge if verified_at is not None and now < verified_at + REPEATED_WITHIN else None


def confirm_cloud(token: str, *, url: str, challenge: str) -> str | None:
    """Verify an rssCloud server's request: the challenge to return, or None if we sent no such request."""
    subscription = queries.subscription_at(token)
    if subscription is None or subscription.kind != Kind.RSSCLOUD or subscription.state in queries.CLOSED:
        return None
    return challenge if url == subscription.topic and 0 < len(challenge) <= MAX_CHALLENGE_LENGTH else None


def _activate(subscription: Subscription, lease: timedelta, now: datetime) -> None:
    Subscription.objects.filter(pk=subscription.pk).update(
        state=State.ACTIVE,
        secret=subscription.offered_secret or subscription.secret,
        offered_secret="",
        former_secret=subscription.secret,
        verified_at=now,
        lease_seconds=round(lease.total_seconds()),
        expires_at=now + lease,
        due_at=now + leases.until_renewal(lease),
        failures=0,
        last_error="",
    )
    _promise(subscription, now + lease, now)


@transaction.atomic
def deny(token: str, *, topic: str, reason: str, now: datetime) -> bool:
    """Handle a hub's denial: request again after a pause. False if there is no such subscription."""
    subscription = Subscription.objects.select_for_update().filter(token=token, kind=Kind.WEBSUB, topic=topic).first()
    if subscription is None or subscription.state in {State.ENDING, State.ENDED}:
        return subscription is not None
    Subscription.objects.filter(pk=subscription.pk).update(
        state=State.DENIED,
        due_at=now + leases.PAUSE,
        expires_at=None,
        failures=leases.MAX_FAILURES - 1,
        last_error=f"The hub denied the subscription: {reason or 'it gives no reason'}"[:300],
    )
    _promise(subscription, None, now)
    return True
