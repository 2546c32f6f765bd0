"""Statements whose rows are read by column name, in Postgres' binary form or in Django's.

A row of two columns may be unpacked as a key and its value; all others are read by name, or into a class whose fields
have the names of the columns.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models.expressions import RawSQL
from psycopg import Cursor
from psycopg.pq import Format
from psycopg.rows import RowFactory, kwargs_row, namedtuple_row, tuple_row

Row = TypeVar("Row")

MAX_ID = 2**63 - 1  # of a bigint
PREPARED_AFTER = 2  # executions on a connection; planning takes longer than most statements


def fetch(statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement of one or two columns, in Postgres' binary form."""
    return _fetch(tuple_row, statement, values)


def fetch_rows(statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
    """All rows of a statement as named tuples, in Postgres' binary form."""
    return _fetch(namedtuple_row, statement, values)


def fetch_as(kind: Callable[..., Row], statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
    """All rows of a statement, each made from its columns by name, in Postgres' binary form."""
    return _fetch(kwargs_row(kind), statement, values)


def _fetch(row_factory: "RowFactory[Row]", statement: str, values: Sequence[Any] | Mapping[str, Any]) -> list[Row]:
    connection.ensure_connection()
    connection.connection.prepare_threshold = PREPARED_AFTER  # Django's own statements are never prepared
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # Django's own cursors put values into the statement; Postgres sends text only then.
    with wrapped(Cursor(connection.connection, row_factory=row_factory)) as cursor:  # type: ignore[arg-type]
        cursor.cursor.format = Format.BINARY
        if isinstance(values, Mapping):
            cursor.execute(statement, {name: _written(value) for name, value in values.items()})
        else:
            cursor.execute(statement, [_written(value) for value in values])
        rows: list[Row] = cursor.fetchall()
        return rows


def execute(statement: str, values: Sequence[Any] | Mapping[str, Any] | None = None) -> int:
    """Execute a statement by Django's cursor; returns the number of rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def query(statement: str, values: Sequence[Any] | Mapping[str, Any] | None = None) -> list[Any]:
    """All rows of a statement by Django's cursor, as named tuples."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return rows_of(cursor)


def query_as(
    kind: Callable[..., Row], statement: str, values: Sequence[Any] | Mapping[str, Any] | None = None
) -> list[Row]:
    """All rows of a statement by Django's cursor, each made from its columns by name."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        cursor.cursor.row_factory = kwargs_row(kind)
        return list(cursor.fetchall())


def copy_rows(statement: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows by a COPY statement in Postgres' binary form, with the types of its columns."""
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def rows_of(cursor: CursorWrapper) -> list[Any]:
    """The rows of the statement that one of Django's cursors has executed, as named tuples."""
    cursor.cursor.row_factory = namedtuple_row
    return list(cursor.fetchall())


@contextmanager
def cursor_of(row_factory: "RowFactory[Row]") -> Iterator[Cursor[Row]]:
    """A cursor on Django's connection that makes typed rows, such as `class_row(MyRow)`."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection, row_factory=row_factory) as cursor:
        yield cursor


def among(ids: Iterable[int]) -> RawSQL:
    """Numbers for `pk__in` as one array: serializing each as a parameter takes longer than finding its row."""
    return RawSQL("SELECT unnest(%s::bigint[])", [f"{{{','.join(map(str, ids))}}}"])


def _written(value: Any) -> Any:
    """Lists of numbers or words as Postgres array literals: psycopg's own array adapters are slow."""
    if isinstance(value, list) and value:
        if type(value[0]) is int:
            return f"{{{','.join(map(str, value))}}}"
        if type(value[0]) is str:
            return f"{{{','.join(map(_quoted, value))}}}"
    return value


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
