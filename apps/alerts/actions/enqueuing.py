"""Laying hits into messages: one that waits takes more, until somebody begins to send it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import uuid4

from celery import current_app
from django.db import connection, transaction
from django.db.models import Q

from apps.alerts.channels import MessageKey
from apps.alerts.models import Message
from apps.alerts.queries import messages

TASK = "apps.alerts.tasks.deliver"
HANDED_OUT_EVERY = 5.0  # s; a task that waited for longer is overtaken by the next
MAX_HITS = 200  # of a message


def enqueue(hits_by_slot: Mapping[MessageKey, Sequence[int]], *, now: datetime, wait: bool = True) -> None:
    """Put hits into messages, in a fixed number of statements; a task sends those that are due once that is certain.

    Who cannot keep up gets fewer and longer messages. Whoever holds other messages must not `wait` for those that
    somebody else holds: there are new ones then.
    """
    grown, made = [], []
    open_messages = _open_messages(hits_by_slot, wait=wait)
    for slot, hits in hits_by_slot.items():
        message = open_messages.get(slot.place)
        rest = list(hits)
        if message is not None:
            held = set(message.hits)
            rest = [hit for hit in hits if hit not in held]
            room = MAX_HITS - len(message.hits)
            message.hits, rest = message.hits + rest[:room], rest[room:]
            message.due_at = min(message.due_at, slot.due_at)
            grown.append(message)
        made += [_message(slot, rest[first : first + MAX_HITS], now) for first in range(0, len(rest), MAX_HITS)]
    if grown:
        _write(grown)
    Message.objects.bulk_create(made)
    due = [message.pk for message in grown + made if message.due_at <= now]
    # If the broker is away they are found by the job that looks for what is due.
    transaction.on_commit(partial(send_tasks, due), robust=True)


def _open_messages(slots: Collection[MessageKey], *, wait: bool) -> dict[tuple[object, ...], Message]:
    """Those that nobody has begun to send and that have room, by their places; the newest of each."""
    saved_ids = {slot.saved_id for slot in slots if slot.saved_id is not None}
    rows = Message.objects.filter(
        Q(saved__in=saved_ids) | Q(saved=None),
        user__in={slot.user_id for slot in slots},
        channel__in={slot.channel for slot in slots},
        state=Message.State.WAITING,
        attempts=0,
        lease_until=None,
    )
    # In one order, so that two who lay at once wait for each other instead of locking each other out.
    rows = rows.order_by("pk").select_for_update(skip_locked=not wait)
    return {
        MessageKey(row.user_id, row.channel, row.saved_id, row.browser_id, row.due_at).place: row
        for row in rows
        if len(row.hits) < MAX_HITS
    }


_WRITE = """
UPDATE alerts_message message SET hits = grown.hits::bigint[], due_at = grown.due_at
FROM unnest(%s::bigint[], %s::text[], %s::timestamptz[]) grown (id, hits, due_at) WHERE message.id = grown.id
"""


def _write(grown: Sequence[Message]) -> None:
    ids, due_at = [message.pk for message in grown], [message.due_at for message in grown]
    hits = [f"{{{','.join(map(str, message.hits))}}}" for message in grown]  # of different lengths: no array of arrays
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [ids, hits, due_at])


def _message(slot: MessageKey, hits: list[int], now: datetime) -> Message:
    return Message(key=uuid4(), hits=hits, created_at=now, **slot._asdict())


def send_tasks(message_ids: Sequence[int]) -> None:
    for message_id in message_ids:
        current_app.send_task(TASK, args=[message_id], ignore_result=True, expires=HANDED_OUT_EVERY)


def hand_out(*, now: datetime) -> int:
    """Have everything sent that is due: what waited until now, and what was left behind; returns how much."""
    due = messages.due(now)
    send_tasks(due)
    return len(due)
