"""Deliver messages, nearly exactly once.

A worker first leases a message, in its own transaction, and counts the attempt. Only if it dies after the receiver has
accepted the message and before that is stored, the message is sent again, under the same key, once the lease expires.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from time import perf_counter
from uuid import uuid4

from celery import current_app
from django.db import transaction
from django.db.models import Count, Q

from apps.accounts.models import User
from apps.alerts import send_to
from apps.alerts.actions.locks import DAILY_LIMIT
from apps.alerts.actions.rules import forget_browsers, stop_token_of
from apps.alerts.algorithms.times import MAX_ATTEMPTS, next_attempt, start_of_day
from apps.alerts.channels import DIGEST, Channel, Delivery, DeliveryResult, MessageKey, all_channels, uncounted
from apps.alerts.channels.digest import digest_of_day
from apps.alerts.models import Attempt, Browser, Hit, Message, Rule
from apps.alerts.queries import messages
from apps.alerts.queries.messages import Group, article_of, groups_of, notification_settings_of, zone_of
from apps.database.advisory_locks import take

logger = logging.getLogger(__name__)

State = Message.State
MAX_LASTING_TRIES = 3  # of errors that are likely to persist
MAX_CALLS = 4  # concurrent, per webhook: a dead one must not block all threads
MAX_TROUBLED = 50  # failed messages to the webhook of one search that are retried
KEPT = timedelta(days=30)
PRUNE_BATCH = 5_000


def deliver(message_id: int, *, now: datetime) -> bool:
    """Send a due message; False if there is nothing to do or another worker has leased it."""
    delivery = _lease(message_id, now)
    if delivery is None:
        return False
    began = perf_counter()
    try:
        channel = _channel_of(delivery.message)
        assert channel is not None  # as it was leased
        result = channel.send(delivery, now)
    except Exception as error:  # any error is stored and retried
        logger.exception("message %d could not be made", message_id)
        result = DeliveryResult(error=f"It could not be created: {type(error).__name__}.")
    _finish(delivery.message, result, now=now, took=perf_counter() - began)
    browser = delivery.message.browser
    if result.is_gone and browser is not None:
        forget_browsers(Browser.objects.filter(pk=browser.pk))
    return True


def _channel_of(message: Message) -> Channel | None:
    return send_to.CHANNEL if message.destination_id else all_channels().get(message.channel)


# --- before -----------------------------------------------------------------------------------------------------------
@transaction.atomic
def _lease(message_id: int, now: datetime) -> Delivery | None:
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    rows = Message.objects.select_for_update(skip_locked=True, of=("self",)).select_related("browser", "destination")
    message = rows.filter(free, pk=message_id, state=State.WAITING, due_at__lte=now).first()
    if message is None:
        return None
    if message.attempts >= MAX_ATTEMPTS:
        _end(message, State.FAILED, message.error or "Its worker stopped.", now)
        return None
    channel = _channel_of(message)
    rules, groups = _wanted(message, channel) if channel else ([], [])
    if channel is None or not groups:
        _end(message, State.DROPPED, "It is no longer wanted, or its articles are gone.", now)
    elif lost := channel.lost(message):
        _end(message, State.DROPPED, lost, now)
    elif channel.is_counted and not message.attempts and _is_over_limit(message, now):
        _put_off(message, now)
    elif channel.is_counted or _keeps_up(message, now):
        message.attempts += 1
        message.lease_until = now + channel.lease
        message.save(update_fields=["attempts", "lease_until"])
        token = rules[0].stop_token if len(rules) == 1 else stop_token_of([rule.pk for rule in rules])
        return Delivery(message, groups, rules, token)
    return None


def _wanted(message: Message, channel: Channel) -> tuple[list[Rule], list[Group]]:
    """The hits of the message that the present rules still want, or the article that the user sends."""
    if message.posting_id is not None:
        return [], article_of(message.posting_id) if message.user.is_active else []
    saved_ids = Hit.objects.filter(pk__in=message.hits).values("saved_id")
    rules = {
        rule.pk: rule
        for rule in Rule.objects.filter(channel.wanted, pk__in=saved_ids, stopped_at=None, saved__user__is_active=True)
    }
    groups = groups_of(message.hits, saved_ids=rules)
    return [rules[group.saved_id] for group in groups], groups


def _keeps_up(message: Message, now: datetime) -> bool:
    """Whether a webhook can take another message; otherwise a new one waits for more hits."""
    waiting = Message.objects.filter(user=message.user_id, state=State.WAITING, channel=message.channel)
    others = waiting.filter(saved=message.saved_id, destination=message.destination_id).exclude(pk=message.pk)
    known = others.aggregate(
        calls=Count("pk", filter=Q(lease_until__gt=now)), troubled=Count("pk", filter=Q(attempts__gt=0))
    )
    return known["calls"] < MAX_CALLS and (message.attempts > 0 or known["troubled"] < MAX_TROUBLED)


def _is_over_limit(message: Message, now: datetime) -> bool:
    preferences, zone = notification_settings_of(message.user), zone_of(message.user)
    if message.channel == DIGEST and message.due_at.astimezone(zone).hour == preferences.digest_hour:
        return False  # the daily digest has no limit
    take(DAILY_LIMIT + message.user_id)  # otherwise each of two concurrent messages could be the last one
    # In one statement: a message in flight may be sent a moment later.
    sent = Q(state=State.SENT, done_at__gte=start_of_day(now, zone)) & ~Q(channel__in=uncounted())
    in_flight = Q(state=State.WAITING, attempts__gt=0) & ~Q(channel__in=uncounted())
    mine = Message.objects.filter(sent | in_flight, user=message.user_id, destination=None)
    return mine.count() >= preferences.most_a_day


def _put_off(message: Message, now: datetime) -> None:
    """Put hits into the next daily digest; a message that cannot be mailed is itself sent then."""
    user = message.user
    preferences = notification_settings_of(user)
    later = digest_of_day(user, now)
    reason = f"More than {preferences.most_a_day} messages in a day: "
    if user.email:
        enqueue({MessageKey(user.pk, DIGEST, None, None, later): message.hits}, now=now, wait=False)
        _end(message, State.DROPPED, reason + "it is in the digest of the day.", now)
    elif preferences.most_a_day:
        message.due_at, message.error = later, reason + "it waits for the next."
        message.save(update_fields=["due_at", "error"])
    else:
        _end(message, State.DROPPED, "Messages are turned off.", now)


# --- after ------------------------------------------------------------------------------------------------------------
@transaction.atomic
def _finish(message: Message, result: DeliveryResult, *, now: datetime, took: float) -> None:
    """Store the result of an attempt. After a slow one another worker may hold the message."""
    ended = now + timedelta(seconds=took)
    row = Message.objects.select_for_update().filter(pk=message.pk).first()
    if row is None:  # deleted with its search or its person
        return
    Attempt.objects.create(message=row, at=now, took=took, status=result.status, error=result.error[:300])
    if not result.error:
        if row.state != State.SENT:
            _end(row, State.SENT, "", ended)
    elif row.state == State.WAITING and row.lease_until == message.lease_until:
        _try_again(row, result, ended)


def _try_again(message: Message, result: DeliveryResult, now: datetime) -> None:
    tried_enough = result.is_lasting and message.attempts >= MAX_LASTING_TRIES
    is_gone = result.is_gone and message.browser_id is not None
    later = None if tried_enough or is_gone else next_attempt(now, message.attempts, retry_after=result.retry_after)
    if later is None:
        _end(message, State.FAILED, result.error, now)
        return
    message.due_at, message.lease_until, message.error = later, None, result.error[:300]
    message.save(update_fields=["due_at", "lease_until", "error"])


def _end(message: Message, state: Message.State, error: str, now: datetime) -> None:
    message.state, message.error, message.done_at, message.lease_until = state, error[:300], now, None
    message.save(update_fields=["state", "error", "done_at", "lease_until"])


@transaction.atomic
def retry(user: User, message_id: int, *, now: datetime) -> bool:
    """Retry a failed message; False if it has not failed."""
    dead = Message.objects.filter(user=user, pk=message_id, state=State.FAILED)
    if not dead.update(state=State.WAITING, attempts=0, due_at=now, done_at=None):
        return False
    transaction.on_commit(lambda: send_tasks([message_id]), robust=True)
    return True


def forget_old(*, now: datetime) -> None:
    """Delete old messages with their attempts."""
    while old := list(Message.objects.filter(done_at__lt=now - KEPT).values_list("pk", flat=True)[:PRUNE_BATCH]):
        with transaction.atomic():
            Attempt.objects.filter(message__in=old).delete()
            Message.objects.filter(pk__in=old).delete()


# --- messages: a waiting one takes more hits until a worker begins to send it -----------------------------------------
TASK = "apps.alerts.tasks.deliver"
EXPIRE_SECONDS = 5.0  # of a task: due messages are sent again that often
MAX_HITS = 200  # per message


def enqueue(hits_by_key: Mapping[MessageKey, Sequence[int]], *, now: datetime, wait: bool = True) -> None:
    """Put hits into messages, in a fixed number of statements; a task sends due ones after the commit.

    Slow receivers get fewer and longer messages. A caller that holds locks on other messages must not `wait` for locked
    ones: new messages are made then.
    """
    grown, made = [], []
    open_messages = _open_messages(hits_by_key, wait=wait)
    for key, hits in hits_by_key.items():
        message = open_messages.get(key.place)
        rest = list(hits)
        if message is not None:
            held = set(message.hits)
            rest = [hit for hit in hits if hit not in held]
            room = MAX_HITS - len(message.hits)
            message.hits, rest = message.hits + rest[:room], rest[room:]
            message.due_at = min(message.due_at, key.due_at)
            grown.append(message)
        made += [_message(key, rest[first : first + MAX_HITS], now) for first in range(0, len(rest), MAX_HITS)]
    if grown:
        Message.objects.bulk_update(grown, ["hits", "due_at"])
    Message.objects.bulk_create(made)
    due = [message.pk for message in grown + made if message.due_at <= now]
    # While the broker is down, `send_due` finds them.
    transaction.on_commit(lambda: send_tasks(due), robust=True)


def _open_messages(keys: Collection[MessageKey], *, wait: bool) -> dict[tuple[object, ...], Message]:
    """Unsent messages with room by their places; the newest of each."""
    saved_ids = {key.saved_id for key in keys if key.saved_id is not None}
    rows = Message.objects.filter(
        Q(saved__in=saved_ids) | Q(saved=None),
        user__in={key.user_id for key in keys},
        channel__in={key.channel for key in keys},
        state=Message.State.WAITING,
        attempts=0,
        lease_until=None,
    )
    # In a fixed order, so that two transactions cannot deadlock.
    rows = rows.order_by("pk").select_for_update(skip_locked=not wait)
    return {
        MessageKey(row.user_id, row.channel, row.saved_id, row.browser_id, row.due_at).place: row
        for row in rows
        if len(row.hits) < MAX_HITS
    }


def _message(key: MessageKey, hits: list[int], now: datetime) -> Message:
    return Message(key=uuid4(), hits=hits, created_at=now, **key._asdict())


def send_tasks(message_ids: Sequence[int]) -> None:
    for message_id in message_ids:
        current_app.send_task(TASK, args=[message_id], ignore_result=True, expires=EXPIRE_SECONDS)


def send_due(*, now: datetime) -> None:
    """Enqueue tasks for all due messages, also those whose task was lost."""
    send_tasks(messages.due(now))
