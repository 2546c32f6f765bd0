"""Outboxes: tables of changes that triggers write and one worker at a time consumes."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from apps.database.advisory_locks import take
from apps.database.statements import fetch_rows
from apps.database.time_limits import within

MAX_SECONDS = 20.0  # per task


@transaction.atomic
def consume_rows(
    table: str, handle: Callable[[list[Any]], None], *, lock: int, limit: int, wait: bool, order: str = "id"
) -> int | None:
    """Delete the first `limit` rows and handle them, in one transaction; returns how many.

    None if `wait` is off and another worker holds the advisory lock. Killed or failed, it leaves the rows as they were.
    """
    if not take(lock, wait=wait):
        return None
    rows = fetch_rows(
        f"WITH taken AS (DELETE FROM {table}"
        f" WHERE id = ANY(ARRAY(SELECT id FROM {table} ORDER BY {order} LIMIT %s)) RETURNING *)"
        f" SELECT * FROM taken ORDER BY {order}",
        [limit],
    )
    if rows:
        handle(rows)
    return len(rows)


def run_batches(*works: tuple[Callable[..., int | None], int], seconds: float = MAX_SECONDS) -> None:
    """Do each kind of work, with its size of batches, while batches are full; after a time the next task continues."""
    may_go_on = within(seconds)
    for work, size in works:
        while may_go_on() and work(size, wait=False) == size:
            pass
