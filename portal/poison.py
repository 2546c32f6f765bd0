"""Messages that would go round for ever: those that take their worker along each time, and those nobody can read.

A message whose worker died is delivered again, be it by Valkey or by RabbitMQ. From its second delivery on its tries
are counted in the database, before each begins. When there were too many it is set aside for a person to look at. A
message that nobody can read is set aside at once.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from celery import Task
from django.db import connection, transaction

from apps.jobs import outstanding

logger = logging.getLogger(__name__)

MOST_TRIES = 3
LONGEST = 10_000  # characters of a message that are kept

_TRY = """
INSERT INTO portal_stuckmessage (id, task, content, tries, first_at, last_at, reason)
VALUES (%(id)s, %(task)s, %(content)s, 1, %(now)s, %(now)s, '')
ON CONFLICT (id) DO UPDATE SET tries = portal_stuckmessage.tries + 1, last_at = excluded.last_at
RETURNING tries
"""
_SET_ASIDE = """
INSERT INTO portal_stuckmessage (id, task, content, tries, first_at, last_at, set_aside_at, reason)
VALUES (%(id)s, %(task)s, %(content)s, 0, %(now)s, %(now)s, %(now)s, %(reason)s)
ON CONFLICT (id) DO UPDATE SET set_aside_at = excluded.set_aside_at, reason = excluded.reason
"""


def may_try(id: str, task: str, content: str, *, now: datetime) -> bool:
    """Whether a message that was delivered before may be tried once more; else it is set aside."""
    values: dict[str, str | datetime] = {"id": id[:200], "task": task[:200], "content": content[:LONGEST], "now": now}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_TRY, values)
        [tries] = cursor.fetchone()
        if tries <= MOST_TRIES:
            return True
        cursor.execute(_SET_ASIDE, values | {"reason": f"Its worker ended {MOST_TRIES} times while it was at it."})
    return False


def set_aside(id: str, task: str, content: str, reason: str, *, now: datetime) -> None:
    """Keep a message that nobody can read for a person to look at."""
    values: dict[str, str | datetime] = {"id": id[:200], "task": task[:200], "content": content[:LONGEST], "now": now}
    values["reason"] = reason[:300]
    with connection.cursor() as cursor:
        cursor.execute(_SET_ASIDE, values)


def forget(id: str) -> None:
    """The message's worker has not ended: its tries count no more."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM portal_stuckmessage WHERE id = %s AND set_aside_at IS NULL", [id])


def written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What a task is called with, so that it can be called so again.

    >>> written([7], {"again": True})
    '{"args": [7], "kwargs": {"again": true}}'
    """
    return json.dumps({"args": list(args), "kwargs": dict(kwargs)}, default=repr)


class CountedTask(Task):
    """A task whose messages may not take one worker after the other along.

    Of a periodic task one message at most is outstanding, see `apps.jobs.outstanding`.
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
            logger.error("%s was set aside: it ended its worker %d times", self.name, MOST_TRIES)
            return None
        try:
            return self.run(*args, **kwargs)
        finally:
            forget(request.id)
