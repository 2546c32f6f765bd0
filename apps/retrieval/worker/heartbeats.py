"""Heartbeats of a worker: while they arrive, what it has begun is not released."""

import logging
import threading

from django.db import DatabaseError, InterfaceError, connection

from apps.retrieval import actions
from apps.retrieval.scheduler.claims import HEARTBEAT_SECONDS

logger = logging.getLogger(__name__)


class Heartbeats:
    """Sends a first heartbeat at once and one every two seconds from then on, in a thread of its own."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self._stopping = threading.Event()
        self._send()  # before anything is begun
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.wait(HEARTBEAT_SECONDS):
                self._send()
        finally:
            connection.close()

    def _send(self) -> None:
        try:
            actions.heartbeat(self.worker)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("no heartbeat could be sent: %s", error)
            connection.close()
