"""A process that sends what is due, and that may be killed at any moment."""

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.conf import settings  # noqa: E402, after the setup
from django.db import connections  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from apps.alerts.actions.delivering import deliver  # noqa: E402
from apps.alerts.queries.messages import due  # noqa: E402
from apps.retrieval.http import guard  # noqa: E402

# What takes long is done once for all.
get_resolver().url_patterns  # noqa: B018
guard._tls_context()

# Each process comes of one that has imported everything and holds no lock, no thread and no connection.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


class Worker:
    """Sends what is due at a time, and ends."""

    def __init__(self, now: datetime) -> None:
        given = {name: getattr(settings, name) for name in (
            "PROJECT_URL", "RETRIEVAL_OPEN_HOSTS", "RETRIEVAL_HOST_GAP", "EMAIL_BACKEND", "EMAIL_HOST", "EMAIL_PORT",
        )}  # fmt: skip
        database = connections["default"].settings_dict["NAME"]
        self._process = _PROCESSES.Process(target=_work, args=(now, database, given), daemon=True)

    def start(self) -> None:
        self._process.start()

    def kill(self) -> None:
        """It is gone when this returns."""
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
            while True:  # until it is buried; to join is for the one thread that waits
                os.kill(self._process.pid, 0)
                time.sleep(0.002)

    def wait(self) -> int | None:
        """How it ended: 0 if it sent all that was due."""
        self._process.join(60)
        return self._process.exitcode


def _work(now: datetime, database: str, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        setattr(settings, name, value)
    connections["default"].settings_dict["NAME"] = database
    for message_id in due(now):
        deliver(message_id, now=now)
