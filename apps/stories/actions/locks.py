"""One holder at a time: an advisory lock of Postgres, held until the end of the transaction."""

from django.db import connection

GROUPING = 0x53544F52
LONGEST_WAIT = "60s"


def take(lock: int = GROUPING, *, wait: bool = True) -> bool:
    """Whether it is ours until the end of the transaction; that may take a while, or is known at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('lock_timeout', %s, true),"
            f" {'pg_advisory_xact_lock' if wait else 'pg_try_advisory_xact_lock'}(%s)",
            [LONGEST_WAIT, lock],
        )
        [_, granted] = cursor.fetchone()
        return granted is not False
