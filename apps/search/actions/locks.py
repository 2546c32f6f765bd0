"""Who may do what at a time: numbers of Postgres' advisory locks, held until the end of a transaction.

Sealing and merging take their own lock first and that of the writers last, for the short while in which what they have
made takes the place of what was there; writers never wait for more than that.
"""

from django.db import connection

WRITING, MAINTAINING = 0x5345_4152, 0x5345_4153

LONGEST_STATEMENT = "120s"  # of one that writes; a merge of the largest generations takes a few seconds
LONGEST_WAIT = "60s"  # for a lock


def take(lock: int, *, wait: bool = True) -> bool:
    """Whether it is ours until the end of the transaction; that may take a while, or is known at once."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true),"
            f" {'pg_advisory_xact_lock' if wait else 'pg_try_advisory_xact_lock'}(%s)",
            [LONGEST_STATEMENT, LONGEST_WAIT, lock],
        )
        [*_, granted] = cursor.fetchone()
        return granted is not False
