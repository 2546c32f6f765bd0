"""Put hits into messages: a waiting message takes more until a worker begins to send it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import uuid4

from celery import current_app
from django.db import transaction
from django.db.models import Q

from apps.alerts.channels import MessageKey
from apps.alerts.models import Message
from apps.alerts.queries import messages

TASK = "apps.alerts.tasks.deliver"
EXPIRE_SECONDS = 5.0  # of a task: due messages are sent again that often
MAX_HITS = 200  # of a message


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
    transaction.on_commit(partial(send_tasks, due), robust=True)


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


def send_due(*, now: datetime) -> int:
    """Enqueue tasks for all due messages, also those whose task was lost; returns how many."""
    due = messages.due(now)
    send_tasks(due)
    return len(due)
