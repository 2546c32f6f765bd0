"""Postgres' advisory locks.

Each app numbers its own locks, beginning with letters of its name.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.database.statements import execute, fetch_rows, query

MAX_STATEMENT = "120s"  # a merge of the largest generations of search takes a few seconds
MAX_WAIT = "60s"  # for a lock


def take(lock: int, *, wait: bool = True) -> bool:
    """Acquire a lock until the end of the transaction; False if `wait` is off and another transaction holds it.

    The transaction's later statements and waits are bounded.
    """
    [row] = fetch_rows(
        "SELECT set_config('statement_timeout', %s, true) AS statement_timeout,"
        " set_config('lock_timeout', %s, true) AS lock_timeout,"
        f" {'pg_advisory_xact_lock' if wait else 'pg_try_advisory_xact_lock'}(%s) AS granted",
        [MAX_STATEMENT, MAX_WAIT, lock],
    )
    return row.granted is not False


@contextmanager
def try_advisory_lock(lock: int) -> Iterator[bool]:
    """Try to hold a lock for a block of several transactions; yields whether it was granted."""
    [(granted,)] = query("SELECT pg_try_advisory_lock(%s)", [lock])
    try:
        yield granted
    finally:
        if granted:
            execute("SELECT pg_advisory_unlock(%s)", [lock])
