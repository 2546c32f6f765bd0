"""Who may write which table at a time: numbers of Postgres' advisory locks, held until the end of a transaction."""

from apps.trending.queries.database import fetch

COUNTING, SLICING, LISTING = 0x5452_4501, 0x5452_4502, 0x5452_4503

LONGEST_STATEMENT = "120s"


def take(lock: int, *, wait: bool) -> bool:
    """Whether it is ours until the end of the transaction; others are waited for, or it is known at once."""
    function = "pg_advisory_xact_lock" if wait else "pg_try_advisory_xact_lock"
    [(_, granted)] = fetch(
        f"SELECT set_config('statement_timeout', %s, true), {function}(%s)", [LONGEST_STATEMENT, lock]
    )
    return granted is not False
