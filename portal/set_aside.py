"""What people decide of messages that were set aside."""

import json

from celery import current_app
from django.db import transaction

from portal.models import StuckMessage


class NotSendable(ValueError):
    """A message cannot be sent again; the sentence says why."""


def known_tasks() -> frozenset[str]:
    """The tasks of this program; only workers have looked for all of them by themselves."""
    current_app.loader.import_default_modules()
    return frozenset(current_app.tasks)


def count_set_aside() -> int:
    return StuckMessage.objects.filter(set_aside_at__isnull=False).count()


@transaction.atomic
def send_again(id: str) -> bool:
    """Send a message that was set aside once more and forget it; False if it is not there any more.

    Raises
    ------
    NotSendable
        If it is none of this program's tasks, or cannot be read.
    """
    message = StuckMessage.objects.select_for_update().filter(pk=id, set_aside_at__isnull=False).first()
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
    """Forget a message that was set aside; False if it is not there any more."""
    return bool(StuckMessage.objects.filter(pk=id, set_aside_at__isnull=False).delete()[0])
