"""Statements whose answers are arrays: Postgres sends them as they are, not in hexadecimal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import connection
from django.db.models.expressions import RawSQL
from psycopg import Cursor
from psycopg.pq import Format
from psycopg.rows import RowFactory

Row = TypeVar("Row")

MAX_ID = 2**63 - 1  # of a bigint
PREPARED_AFTER = 2  # times that a connection has sent the same statement; to plan one takes longer than most of them


def fetch(statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement, in Postgres' binary form."""
    connection.ensure_connection()
    connection.connection.prepare_threshold = PREPARED_AFTER  # Django's own statements are never prepared
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # Django's own cursors put values into the statement, which Postgres answers in letters only.
    with wrapped(Cursor(connection.connection)) as cursor:  # type: ignore[arg-type]
        cursor.cursor.format = Format.BINARY
        if isinstance(values, Mapping):
            cursor.execute(statement, {name: _written(value) for name, value in values.items()})
        else:
            cursor.execute(statement, [_written(value) for value in values])
        return cursor.fetchall()


@contextmanager
def cursor_of(row_factory: "RowFactory[Row]") -> Iterator[Cursor[Row]]:
    """A cursor on Django's connection that makes typed rows, such as `class_row(MyRow)`."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection, row_factory=row_factory) as cursor:
        yield cursor


def among(ids: Iterable[int]) -> RawSQL:
    """Numbers for `pk__in`, as one value: to write and read each by itself takes longer than to find its row."""
    return RawSQL("SELECT unnest(%s::bigint[])", [f"{{{','.join(map(str, ids))}}}"])


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
