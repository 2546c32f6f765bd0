"""A consumer that keeps unreadable messages as dead letters, where Celery drops them."""

import logging
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from celery.worker.consumer import Consumer
from django.db import DatabaseError, connection

from apps.jobs.actions.dead_letters import MAX_CONTENT, abandon_message

logger = logging.getLogger(__name__)


class ReadingConsumer(Consumer):
    class Blueprint(Consumer.Blueprint):
        # Due times are in the database, not in delayed messages, for which Celery would create 28 more queues.
        default_steps = tuple(step for step in Consumer.Blueprint.default_steps if "DelayedDelivery" not in step)

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        self._keep(message, f"It cannot be decoded: {exc}")
        super().on_decode_error(message, exc)

    def on_unknown_message(self, body: Any, message: Any) -> None:
        self._keep(message, "It is no message of Celery's.")
        super().on_unknown_message(body, message)

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._keep(message, "This program knows no such task; was it sent by a newer one?")
        super().on_unknown_task(body, message, exc)

    def on_invalid_task(self, body: Any, message: Any, exc: Exception) -> None:
        self._keep(message, f"It is not as a task should be: {exc}")
        super().on_invalid_task(body, message, exc)

    def _keep(self, message: Any, reason: str) -> None:
        headers = message.headers if isinstance(message.headers, dict) else {}
        id, task = str(headers.get("id") or uuid4()), str(headers.get("task") or "")
        content = f"{headers!r} {message.body!r}"
        try:
            abandon_message(id, task, content, reason, now=datetime.now(UTC))
        except DatabaseError as error:  # then the log is the only record
            logger.error("a dead letter could not be stored (%s): %s %s", error, reason, content[:MAX_CONTENT])
        finally:
            connection.close()
