"""Reads of subscriptions and of what was delivered."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.retrieval.models import Schedule
from apps.websub.algorithms.callbacks import callback_base
from apps.websub.models import Delivery, Subscription

State = Subscription.State
CLOSED = (State.DENIED, State.ENDING, State.ENDED)  # deliveries are refused
LEFT_BEHIND = timedelta(seconds=20)  # after which the task of a new delivery counts as lost
ATTEMPT = timedelta(minutes=1)  # after which an attempt counts as dead


class PushOfSource(NamedTuple):
    """The subscription of a source, for display."""

    subscription: Subscription
    is_live: bool
    deliveries: tuple[Delivery, ...]  # the latest first, without their bodies


def base() -> str:
    """The prefix of our callback addresses; "" if hubs cannot or must not call us."""
    return callback_base(settings.PROJECT_URL, settings.PUSH_MODE)


def current() -> QuerySet[Subscription]:
    """Subscriptions that are to continue."""
    return Subscription.objects.exclude(state__in=[State.ENDING, State.ENDED])


def missing() -> QuerySet[Schedule]:
    """Checked sources that name a hub and have no subscription there; not replayed ones, whose hubs are real."""
    subscribed = Exists(current().filter(source_id=OuterRef("source_id")))
    named = Schedule.objects.exclude(hub_url="").exclude(topic_url="")
    return named.filter(~subscribed, due_at__isnull=False, source__clock_rate=1.0)


def unwanted(base: str) -> QuerySet[Subscription]:
    """Subscriptions of sources that are no longer checked or name another hub, and those with another callback."""
    wanted = Schedule.objects.filter(
        source_id=OuterRef("source_id"), due_at__isnull=False, hub_url=OuterRef("hub"), topic_url=OuterRef("topic")
    )
    kept = Exists(wanted) & Q(callback__startswith=f"{base}/") if base else Q(pk__in=[])
    return current().exclude(kept)


def subscription_at(token: str) -> Subscription | None:
    return Subscription.objects.filter(token=token).first()


def left_behind(now: datetime) -> list[int]:
    """Deliveries that a task should have processed by now, the oldest first."""
    untouched = Q(tried_at__isnull=True, received_at__lte=now - LEFT_BEHIND)
    waiting = Delivery.objects.filter(untouched | Q(tried_at__lte=now - ATTEMPT), state=Delivery.State.WAITING)
    return list(waiting.order_by("received_at").values_list("pk", flat=True)[:500])


def push_of(source_id: int, now: datetime) -> PushOfSource | None:
    """The latest subscription of a source, with at most two queries."""
    rows = Subscription.objects.filter(source_id=source_id)
    latest = rows.order_by(F("ended_at").desc(nulls_first=True), "-pk").first()
    if latest is None:
        return None
    deliveries = Delivery.objects.filter(subscription=latest).defer("body").order_by("-received_at")[:10]
    is_live = latest.expires_at is not None and latest.expires_at > now
    return PushOfSource(latest, is_live, tuple(deliveries))
