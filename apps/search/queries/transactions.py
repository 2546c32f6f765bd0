"""Read-only transactions with one snapshot and a statement timeout."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from apps.database.statements import fetch_rows, rows_of

MAX_STATEMENT = "10s"
_BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '{MAX_STATEMENT}'; "


@contextmanager
def consistent_snapshot(first: str) -> Iterator[list[Any]]:
    """A read-only transaction with the snapshot of its first statement, which has no values and whose rows are yielded.

    Inside another transaction it has the isolation of that.
    """
    connection.ensure_connection()
    if connection.in_atomic_block or not connection.get_autocommit():
        yield fetch_rows(first)
        return
    try:
        yield _begun(first)
    finally:
        try:
            # Not a rollback, after which psycopg drops its prepared statements.
            connection.commit()
        except Exception:
            connection.close()  # it is lost, or in an unknown state
            raise


def _begun(first: str) -> list[Any]:
    """Begin the transaction and run the statement in one round trip, where Django and psycopg need three."""
    connection.connection.prepare_threshold = None  # several statements at once cannot be prepared
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN + first)
        while cursor.nextset():
            pass
        return rows_of(cursor)
