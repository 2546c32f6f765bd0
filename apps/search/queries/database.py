"""Statements on the index: their answers in Postgres' binary form, all as of one instant, none for ever."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection
from psycopg import Cursor
from psycopg.pq import Format

LONGEST_STATEMENT = "10s"
_BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '{LONGEST_STATEMENT}'; "
PREPARED_AFTER = 2  # times that a connection has sent the same statement; to plan one takes longer than most of them


def fetch(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement. Arrays come as they are, not twice as long in hexadecimal."""
    connection.ensure_connection()
    connection.connection.prepare_threshold = PREPARED_AFTER  # Django's own statements are never prepared
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # Django's own cursors put values into the statement, which Postgres answers in letters only.
    with wrapped(Cursor(connection.connection)) as cursor:  # type: ignore[arg-type]
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, [_written(value) for value in values])
        return cursor.fetchall()


def _written(value: Any) -> Any:
    """Lists of numbers or words as Postgres reads them: psycopg takes as long for a hundred as for all else."""
    if isinstance(value, list) and value:
        if type(value[0]) is int:
            return f"{{{','.join(map(str, value))}}}"
        if type(value[0]) is str:
            return f"{{{','.join(map(_quoted, value))}}}"
    return value


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextmanager
def one_instant(first: str) -> Iterator[list[tuple[Any, ...]]]:
    """A transaction that sees the database as it was at its first statement, and can write nothing.

    Inside another transaction it is only a part of that, and as consistent.

    Parameters
    ----------
    first : str
        That statement, without values; its rows are yielded.
    """
    connection.ensure_connection()
    if connection.in_atomic_block or not connection.get_autocommit():
        yield fetch(first)
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


def _begun(first: str) -> list[tuple[Any, ...]]:
    """Begin the transaction and ask at once: one round trip, where Django and psycopg would need three."""
    connection.connection.prepare_threshold = None  # several statements at once cannot be prepared
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN + first)
        while cursor.nextset():
            pass
        return list(cursor.fetchall())
