"""Subscriptions: begun where a source names a hub, confirmed by the hub, renewed, and ended."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.urls import reverse

from apps.retrieval import actions as retrieval
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.sources.algorithms.hubs import RSSCLOUD
from apps.websub import queries
from apps.websub.actions.requests import ask_all
from apps.websub.algorithms import leases
from apps.websub.algorithms.forms import Mode, cloud_address, cloud_form, hub_form, refusal_of
from apps.websub.models import Subscription

State, Kind = Subscription.State, Subscription.Kind
MAX_BEGUN = 500  # at once
MAX_ASKED = 50  # at once: most of them by turns, since many sources have one hub
MAX_GOODBYES = 3  # requests to end a subscription
REPEATED_WITHIN = timedelta(minutes=10)  # a hub that missed our answer may verify again
MAX_CHALLENGE_LENGTH = 2_000  # characters
ANSWER_LIMIT = 64 * 1024  # bytes; what hubs say is short


def maintain(*, now: datetime) -> int:
    """Do all that is due for subscriptions; returns how many requests were made."""
    expire(now=now)
    reconcile(now=now)
    return ask_due(now=now)


# --- who is to tell us --------------------------------------------------------------------------------------------
@transaction.atomic
def reconcile(*, now: datetime) -> int:
    """Begin subscriptions where sources name hubs, end those that nobody wants; returns how many changed."""
    base = queries.base()
    unwanted = list(queries.unwanted(base).select_for_update(of=("self",)))
    for subscription in unwanted:
        _end(subscription, now)
    if not base:
        return len(unwanted)
    named = queries.missing().order_by("source_id").only("hub_url", "topic_url")[:MAX_BEGUN]
    begun = [_new(base, each.source_id, each.hub_url, each.topic_url, now) for each in named]
    Subscription.objects.bulk_create(begun, ignore_conflicts=True)
    return len(unwanted) + len(begun)


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


def _secret_for(hub: str) -> str:
    """Others could read it on its way to a hub without TLS."""
    return secrets.token_urlsafe(32) if hub.startswith("https:") else ""


def _end(subscription: Subscription, now: datetime) -> None:
    """End a locked subscription; a hub that would go on calling is told to stop. Servers of rssCloud just forget us."""
    must_be_told = subscription.kind == Kind.WEBSUB and subscription.expires_at is not None
    Subscription.objects.filter(pk=subscription.pk).update(
        state=State.ENDING if must_be_told else State.ENDED,
        due_at=now if must_be_told else None,
        ended_at=now,
        expires_at=None,
        failures=0,
    )
    _promise(subscription, None, now)


def _promise(subscription: Subscription, until: datetime | None, now: datetime) -> None:
    if subscription.source_id is not None:
        retrieval.promise(subscription.source_id, until, now=now)


@transaction.atomic
def expire(*, now: datetime) -> int:
    """What was not renewed in time is over: from here on its source is asked as often as any other."""
    over = list(Subscription.objects.filter(expires_at__lte=now).select_for_update(skip_locked=True))
    for subscription in over:
        state = State.PENDING if subscription.state == State.ACTIVE else subscription.state
        Subscription.objects.filter(pk=subscription.pk).update(state=state, expires_at=None)
        _promise(subscription, None, now)
    return len(over)


# --- requests -----------------------------------------------------------------------------------------------------
def ask_due(*, now: datetime) -> int:
    """Make the requests that are due; returns how many. Each was written down before, so a crash repeats it later."""
    claimed = _claim(now)
    answers = ask_all([_request(subscription) for subscription in claimed])
    for subscription, answer in zip(claimed, answers, strict=True):
        _note(subscription, answer, now)
    return len(claimed)


@transaction.atomic
def _claim(now: datetime) -> list[Subscription]:
    due = Subscription.objects.filter(due_at__lte=now).order_by("due_at").select_for_update(skip_locked=True)
    claimed = [subscription for subscription in due[:MAX_ASKED] if _begin_request(subscription, now)]
    Subscription.objects.bulk_update(claimed, ["state", "offered_secret", "requested_at", "failures", "due_at"])
    return claimed


def _begin_request(subscription: Subscription, now: datetime) -> bool:
    """Note a request in a locked subscription; False if it has been told often enough that it is over."""
    if subscription.state == State.ENDING and subscription.failures >= MAX_GOODBYES:
        Subscription.objects.filter(pk=subscription.pk).update(state=State.ENDED, due_at=None)
        return False
    # One secret for all requests until one is confirmed: nobody knows which of them the hub heeds.
    subscription.offered_secret = subscription.offered_secret or _secret_for(subscription.hub)
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
        form, address = cloud_form(callback=callback, topic=topic), cloud_address(subscription.hub)
    else:
        mode: Mode = "unsubscribe" if subscription.state == State.ENDING else "subscribe"
        form = hub_form(mode, callback=callback, topic=topic, lease=leases.WISHED, secret=subscription.offered_secret)
        address = subscription.hub
    return FetchRequest(url=address, form=form, accept="*/*", body_limit=ANSWER_LIMIT)


def _note(claimed: Subscription, answer: Fetched, now: datetime) -> None:
    """What the answer to a request means, unless the hub has confirmed it meanwhile."""
    open_request = Subscription.objects.filter(pk=claimed.pk, requested_at=claimed.requested_at, failures__gt=0)
    if answer.failure is not None and answer.failure.retry_after is not None:  # nothing was asked
        due_at = now + timedelta(seconds=answer.failure.retry_after)
        open_request.update(due_at=due_at, failures=F("failures") - 1)
        return
    error = _error_in(claimed, answer)
    if not error and claimed.kind == Kind.RSSCLOUD:
        with transaction.atomic():
            for subscription in open_request.select_for_update():
                _activate(subscription, leases.RSSCLOUD, now)
        return
    open_request.update(last_error=(error or "The hub has not confirmed the latest request yet.")[:300])


def _error_in(claimed: Subscription, answer: Fetched) -> str:
    if answer.failure is not None:
        return answer.failure.message
    if not 200 <= answer.status < 300:
        return f"The hub answered with status {answer.status}."
    refusal = refusal_of(answer.body) if claimed.kind == Kind.RSSCLOUD else ""
    return f"The hub refused the request: {refusal}" if refusal else ""


# --- what hubs say about them -------------------------------------------------------------------------------------
@transaction.atomic
def confirm(token: str, *, mode: str, topic: str, challenge: str, lease_seconds: str, now: datetime) -> str | None:
    """Answer a hub that asks whether we mean it (WebSub, section 5.3): with its challenge, or None if we do not.

    A lease counts from here.
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
    """Answer a server of rssCloud that asks whether we are there: with its challenge, or None if we did not ask it."""
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
    """A hub will not, or not any longer, tell us of the topic; it is asked again after a rest. False if unknown."""
    subscription = Subscription.objects.select_for_update().filter(token=token, kind=Kind.WEBSUB, topic=topic).first()
    if subscription is None or subscription.state in {State.ENDING, State.ENDED}:
        return subscription is not None
    Subscription.objects.filter(pk=subscription.pk).update(
        state=State.DENIED,
        due_at=now + leases.REST,
        expires_at=None,
        failures=leases.MAX_FAILURES - 1,
        last_error=f"The hub denied the subscription: {reason or 'it gives no reason'}"[:300],
    )
    _promise(subscription, None, now)
    return True
