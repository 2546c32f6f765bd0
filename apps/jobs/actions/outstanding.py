"""At most one outstanding message of each periodic task.

The sender reserves the task's name with a token that travels with the message; the worker releases it when the task is
done, and renews it while the task runs. A reservation that nothing renews expires, so a lost message, or a worker that
was killed, does not stop the task. A message whose reservation has expired is skipped: a later one does its work.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from celery import Task
from django.core.cache import cache
from redis import RedisError

logger = logging.getLogger(__name__)

HEADER = "outstanding"  # of a message: [name, token]
EXPIRE_SECONDS = 10
RENEW_SECONDS = 2.0

Result = TypeVar("Result")


def send(task: Task, name: str, *args: Any, **options: Any) -> bool:
    """Enqueue a task unless a message of that name is outstanding; whether it was enqueued."""
    token = uuid4().hex
    if not reserve(name, token):
        return False
    task.apply_async(args, headers={HEADER: [name, token]}, **options)
    return True


def reserve(name: str, token: str) -> bool:
    """Reserve a name unless a message of it is outstanding. Without a cache every message is sent."""
    return _tolerant(lambda: bool(cache.add(_key(name), token, EXPIRE_SECONDS)), True)


def release(name: str, token: str) -> None:
    if is_reserved(name, token):
        _tolerant(lambda: cache.delete(_key(name)), False)


def is_reserved(name: str, token: str) -> bool:
    """Whether the reservation of this message still holds; True if the cache is down."""
    return _tolerant(lambda: bool(cache.get(_key(name)) == token), True)


@contextmanager
def running(name: str, token: str) -> Iterator[None]:
    """Keep the reservation of a message while its task runs, and release it afterwards."""
    _renewals.add(name)
    try:
        yield
    finally:
        _renewals.remove(name)
        release(name, token)


class _Renewals:
    """Renews what runs in this process, by one thread that ends when nothing runs."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, name: str) -> None:
        with self._changed:
            self._names.append(name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outstanding", daemon=True)
                self._thread.start()

    def remove(self, name: str) -> None:
        with self._changed:
            self._names.remove(name)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait(RENEW_SECONDS)
                names = set(self._names)
                if not names:
                    self._thread = None
                    return
            for name in names:
                _tolerant(partial(cache.touch, _key(name), EXPIRE_SECONDS), False)


_renewals = _Renewals()


def _key(name: str) -> str:
    return f"outstanding:{name.replace(' ', '-')}"


def _tolerant(do: Callable[[], Result], otherwise: Result) -> Result:
    try:
        return do()
    except RedisError as error:  # a broken cache must not stop tasks
        logger.warning("the cache of outstanding messages is down: %s", error)
        return otherwise
