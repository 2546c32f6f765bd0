"""Dead letters: messages that kill their worker each time, or that no worker can read.

Valkey and RabbitMQ redeliver a message whose worker died. From the second delivery on, attempts are counted in the
database, each before it begins. After too many the message becomes a dead letter, for a person to send again or to
discard. A message that no worker can read is one at once.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from celery import Task, current_app
from django.db import transaction
from django.db.models import QuerySet

from apps.database.statements import query
from apps.jobs.actions import outstanding
from apps.jobs.models import DeadLetter

logger = logging.getLogger(__name__)

MAX_TRIES = 3  # after the first delivery
MAX_CONTENT = 10_000  # characters of a message that are kept

_TRY = """
INSERT INTO jobs_deadletter (id, task, content, tries, first_at, last_at, reason)
VALUES (%(id)s, %(task)s, %(content)s, 1, %(now)s, %(now)s, '')
ON CONFLICT (id) DO UPDATE SET tries = jobs_deadletter.tries + 1, last_at = excluded.last_at
RETURNING tries
"""


class NotSendable(ValueError):
    """A message cannot be sent again; the text has the reason."""


def dead_letters() -> QuerySet[DeadLetter]:
    """Dead letters, the latest first."""
    return DeadLetter.objects.exclude(abandoned_at=None).order_by("-abandoned_at", "pk")


def known_tasks() -> frozenset[str]:
    """The tasks of this program; outside of workers they have to be imported first."""
    current_app.loader.import_default_modules()
    return frozenset(current_app.tasks)


# --- workers ----------------------------------------------------------------------------------------------------------
def may_try(id: str, task: str, content: str, *, now: datetime) -> bool:
    """Whether a redelivered message may be tried once more; otherwise it becomes a dead letter."""
    values: dict[str, str | datetime] = {
        "id": id[:200],
        "task": task[:200],
        "content": content[:MAX_CONTENT],
        "now": now,
    }
    with transaction.atomic():
        [(tries,)] = query(_TRY, values)
        if tries > MAX_TRIES:
            abandon_message(id, task, content, f"Its worker died {MAX_TRIES + 1} times while it ran.", now=now)
    return bool(tries <= MAX_TRIES)


def abandon_message(id: str, task: str, content: str, reason: str, *, now: datetime) -> None:
    """Store a message as a dead letter."""
    decided = {"abandoned_at": now, "reason": reason[:300]}
    made = {"task": task[:200], "content": content[:MAX_CONTENT], "first_at": now, "last_at": now}
    DeadLetter.objects.update_or_create(pk=id[:200], defaults=decided, create_defaults=made | decided)


def forget(id: str) -> None:
    """Forget the attempts of a message whose worker survived."""
    DeadLetter.objects.filter(pk=id, abandoned_at=None).delete()


def written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The arguments of a task as JSON.

    >>> written([7], {"again": True})
    '{"args": [7], "kwargs": {"again": true}}'
    """
    return json.dumps({"args": list(args), "kwargs": dict(kwargs)}, default=repr)


class CountedTask(Task):
    """A task whose messages cannot kill one worker after the other.

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
            logger.error("%s is a dead letter: its worker died %d times", self.name, MAX_TRIES + 1)
            return None
        try:
            return self.run(*args, **kwargs)
        finally:
            forget(request.id)


# --- people -----------------------------------------------------------------------------------------------------------
@transaction.atomic
def send_again(id: str) -> bool:
    """Send a dead letter again and delete it; False if it is gone. Raises `NotSendable`."""
    message = dead_letters().select_for_update().filter(pk=id).first()
    if message is None:
        return False
    if message.task not in known_tasks():
        raise NotSendable(f"This program has no task {message.task or 'of that name'}.")
    try:
        called = json.loads(message.content)
        args, kwargs = list(called["args"]), dict(called["kwargs"])
    except (ValueError, TypeError, KeyError):
        raise NotSendable("Its content cannot be read, so it cannot be sent again.") from None
    current_app.send_task(message.task, args=args, kwargs=kwargs, ignore_result=True)
    message.delete()
    return True


def discard(id: str) -> bool:
    """Delete a dead letter; False if it is gone."""
    return bool(DeadLetter.objects.filter(pk=id).exclude(abandoned_at=None).delete()[0])
