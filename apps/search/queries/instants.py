"""Reading the index as of one instant, and not for ever."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from apps.database.statements import fetch_rows, rows_of

MAX_STATEMENT = "10s"
_BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '{MAX_STATEMENT}'; "


@contextmanager
def consistent_snapshot(first: str) -> Iterator[list[Any]]:
    """A transaction that sees the database as it was at its first statement, and can write nothing.

    Inside another transaction it is only a part of that, and as consistent.

    Parameters
    ----------
    first : str
        That statement, without values; its rows are yielded.
    """
    connection.ensure_connection()
    if connection.in_atomic_block or not connection.get_autocommit():
        yield fetch_rows(first)
        return
    try:
        yield _begun(first)
    finally:
        try:
            # There is nothing to keep, but after a rollback psycopg forgets what it has prepared.
            connection.commit()
        except Exception:
            connection.close()  # it is gone, or nobody knows what it will do next
            raise


def _begun(first: str) -> list[Any]:
    """Begin the transaction and ask at once: one round trip, where Django and psycopg would need three."""
    connection.connection.prepare_threshold = None  # several statements at once cannot be prepared
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN + first)
        while cursor.nextset():
            pass
        return rows_of(cursor)
