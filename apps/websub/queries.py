"""Reads of subscriptions and of what was delivered."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.retrieval.models import Schedule
from apps.websub.algorithms.callbacks import callback_base
from apps.websub.models import Delivery, Subscription

State = Subscription.State
CLOSED = (State.DENIED, State.ENDING, State.ENDED)  # nothing more is taken from these
LEFT_BEHIND = timedelta(seconds=20)  # after which the task of a new delivery must have been lost
ATTEMPT = timedelta(minutes=1)  # after which an attempt must have died


@dataclass(frozen=True, slots=True)
class PushOfSource:
    """What is shown of how a source's publisher tells us of its news."""

    subscription: Subscription
    is_live: bool
    deliveries: tuple[Delivery, ...]  # the latest first, without their bodies


def base() -> str:
    """The beginning of our callbacks' addresses; "" if nobody is to call us."""
    return callback_base(settings.PROJECT_URL, settings.PUSH_MODE)


def current() -> QuerySet[Subscription]:
    """Those that are to go on."""
    return Subscription.objects.exclude(state__in=[State.ENDING, State.ENDED])


def missing() -> QuerySet[Schedule]:
    """Sources that are to be asked, name a hub, and have no subscription there; no replays, whose hubs are real."""
    subscribed = Exists(current().filter(source_id=OuterRef("source_id")))
    named = Schedule.objects.exclude(hub_url="").exclude(topic_url="")
    return named.filter(~subscribed, due_at__isnull=False, source__clock_rate=1.0)


def unwanted(base: str) -> QuerySet[Subscription]:
    """Subscriptions of sources that are not asked any more or name another hub, and those to other callbacks."""
    wanted = Schedule.objects.filter(
        source_id=OuterRef("source_id"), due_at__isnull=False, hub_url=OuterRef("hub"), topic_url=OuterRef("topic")
    )
    kept = Exists(wanted) & Q(callback__startswith=f"{base}/") if base else Q(pk__in=[])
    return current().exclude(kept)


def subscription_at(token: str) -> Subscription | None:
    return Subscription.objects.filter(token=token).first()


def left_behind(now: datetime) -> list[int]:
    """Deliveries that somebody should have worked on by now, the oldest first."""
    untouched = Q(tried_at__isnull=True, received_at__lte=now - LEFT_BEHIND)
    waiting = Delivery.objects.filter(untouched | Q(tried_at__lte=now - ATTEMPT), state=Delivery.State.WAITING)
    return list(waiting.order_by("received_at").values_list("pk", flat=True)[:500])


def push_of(source_id: int, now: datetime) -> PushOfSource | None:
    """The latest subscription of a source; two queries, or one if there is none."""
    rows = Subscription.objects.filter(source_id=source_id)
    latest = rows.order_by(F("ended_at").desc(nulls_first=True), "-pk").first()
    if latest is None:
        return None
    deliveries = Delivery.objects.filter(subscription=latest).defer("body").order_by("-received_at")[:10]
    is_live = latest.expires_at is not None and latest.expires_at > now
    return PushOfSource(latest, is_live, tuple(deliveries))


def is_checked(source_id: int) -> bool:
    return Schedule.objects.filter(pk=source_id, due_at__isnull=False).exists()
