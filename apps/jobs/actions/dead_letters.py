"""Dead letters: messages that end their worker each time, or that no worker can read.

A message whose worker died is delivered again, be it by Valkey or by RabbitMQ. From its second delivery on its tries
are counted in the database, each before it begins. After too many it is set aside as a dead letter, for a person to
send again or to discard. A message that no worker can read is one at once.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from celery import Task, current_app
from django.db import connection, transaction
from django.db.models import QuerySet

from apps.jobs.actions import outstanding
from apps.jobs.models import DeadLetter

logger = logging.getLogger(__name__)

MAX_TRIES = 3
MAX_CONTENT = 10_000  # characters of a message that are kept

_TRY = """
INSERT INTO jobs_deadletter (id, task, content, tries, first_at, last_at, reason)
VALUES (%(id)s, %(task)s, %(content)s, 1, %(now)s, %(now)s, '')
ON CONFLICT (id) DO UPDATE SET tries = jobs_deadletter.tries + 1, last_at = excluded.last_at
RETURNING tries
"""


class NotSendable(ValueError):
    """A message cannot be sent again; the sentence says why."""


def dead_letters() -> QuerySet[DeadLetter]:
    """The messages that were set aside, the latest first."""
    return DeadLetter.objects.filter(set_aside_at__isnull=False).order_by("-set_aside_at", "pk")


def known_tasks() -> frozenset[str]:
    """The tasks of this program; only workers have looked for all of them by themselves."""
    current_app.loader.import_default_modules()
    return frozenset(current_app.tasks)


# --- workers ----------------------------------------------------------------------------------------------------------
def may_try(id: str, task: str, content: str, *, now: datetime) -> bool:
    """Whether a message that was delivered before may be tried once more; else it is set aside."""
    values: dict[str, str | datetime] = {
        "id": id[:200],
        "task": task[:200],
        "content": content[:MAX_CONTENT],
        "now": now,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_TRY, values)
        [tries] = cursor.fetchone()
        if tries > MAX_TRIES:
            set_aside(id, task, content, f"Its worker ended {MAX_TRIES} times while it was at it.", now=now)
    return bool(tries <= MAX_TRIES)


def set_aside(id: str, task: str, content: str, reason: str, *, now: datetime) -> None:
    """Keep a message for a person to look at."""
    decided = {"set_aside_at": now, "reason": reason[:300]}
    made = {"task": task[:200], "content": content[:MAX_CONTENT], "first_at": now, "last_at": now}
    DeadLetter.objects.update_or_create(pk=id[:200], defaults=decided, create_defaults=made | decided)


def forget(id: str) -> None:
    """The message's worker has not ended: its tries count no more."""
    DeadLetter.objects.filter(pk=id, set_aside_at=None).delete()


def written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What a task is called with, so that it can be called so again.

    >>> written([7], {"again": True})
    '{"args": [7], "kwargs": {"again": true}}'
    """
    return json.dumps({"args": list(args), "kwargs": dict(kwargs)}, default=repr)


class CountedTask(Task):
    """A task whose messages cannot end one worker after the other.

    Of a periodic task one message at most is outstanding, see `apps.jobs.actions.outstanding`.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reservation = getattr(self.request, outstanding.HEADER, None)
        if reservation is None:
            return self._run_counted(*args, **kwargs)
        name, token = reservation
        if not outstanding.is_reserved(name, token):
            logger.info("%s: a later message does the work of this one", name)
            return None
        with outstanding.running(name, token):
            return self._run_counted(*args, **kwargs)

    def _run_counted(self, *args: Any, **kwargs: Any) -> Any:
        request = self.request
        if not (request.delivery_info or {}).get("redelivered"):
            return self.run(*args, **kwargs)
        if not may_try(request.id, self.name, written(args, kwargs), now=datetime.now(UTC)):
            logger.error("%s was set aside: it ended its worker %d times", self.name, MAX_TRIES)
            return None
        try:
            return self.run(*args, **kwargs)
        finally:
            forget(request.id)


# --- people -----------------------------------------------------------------------------------------------------------
@transaction.atomic
def send_again(id: str) -> bool:
    """Send a dead letter once more and forget it; False if it is not there any more.

    Raises
    ------
    NotSendable
        If it is none of this program's tasks, or cannot be read.
    """
    message = dead_letters().select_for_update().filter(pk=id).first()
    if message is None:
        return False
    if message.task not in known_tasks():
        raise NotSendable(f"This program has no task {message.task or 'of that name'}.")
    try:
        called = json.loads(message.content)
        args, kwargs = list(called["args"]), dict(called["kwargs"])
    except (ValueError, TypeError, KeyError):
        raise NotSendable("What it says cannot be read, so it cannot be sent again.") from None
    current_app.send_task(message.task, args=args, kwargs=kwargs, ignore_result=True)
    message.delete()
    return True


def discard(id: str) -> bool:
    """Forget a dead letter; False if it is not there any more."""
    return bool(DeadLetter.objects.filter(pk=id, set_aside_at__isnull=False).delete()[0])
