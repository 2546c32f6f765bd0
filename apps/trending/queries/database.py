"""Statements whose answers are arrays: Postgres sends them as they are, not in hexadecimal."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from psycopg import Cursor
from psycopg.pq import Format


def fetch(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement, in Postgres' binary form."""
    connection.ensure_connection()
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # Django's own cursors put values into the statement, which Postgres answers in letters only.
    with wrapped(Cursor(connection.connection)) as cursor:  # type: ignore[arg-type]
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, values)
        return cursor.fetchall()
