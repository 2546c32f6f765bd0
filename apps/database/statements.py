"""Statements whose rows are read by column name, in Postgres' binary form or in Django's.

A row of two columns may be unpacked as a key and its value; all others are read by name, or into a class whose fields
have the names of the columns.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models.expressions import RawSQL
from psycopg import Connection, Cursor
from psycopg.pq import Format
from psycopg.rows import RowFactory, kwargs_row, namedtuple_row, tuple_row

Row = TypeVar("Row")

MAX_ID = 2**63 - 1  # of a bigint
PREPARED_AFTER = 2  # executions on a connection; planning takes longer than most statements


_generic: WeakKeyDictionary[Connection[Any], bool] = WeakKeyDictionary()  # the mode that each connection is in


def fetch(
    statement: str, values: Sequence[Any] | Mapping[str, Any] = (), *, generic: bool = False
) -> list[tuple[Any, ...]]:
    """All rows of a statement of one or two columns, in Postgres' binary form.

    A `generic` one is planned once for all values, and not for each: where all plans are alike, planning takes longer
    than the statement itself.
    """
    return _fetch(tuple_row, statement, values, generic)


def fetch_rows(statement: str, values: Sequence[Any] | Mapping[str, Any] = (), *, generic: bool = False) -> list[Any]:
    """All rows of a statement as named tuples, in Postgres' binary form; see `fetch`."""
    return _fetch(namedtuple_row, statement, values, generic)


def fetch_as(
    kind: Callable[..., Row],
    statement: str,
    values: Sequence[Any] | Mapping[str, Any] = (),
    *,
    generic: bool = False,
) -> list[Row]:
    """All rows of a statement, each made from its columns by name, in Postgres' binary form; see `fetch`."""
    return _fetch(kwargs_row(kind), statement, values, generic)


def _fetch(
    row_factory: "RowFactory[Row]", statement: str, values: Sequence[Any] | Mapping[str, Any], generic: bool = False
) -> list[Row]:
    connection.ensure_connection()
    connection.connection.prepare_threshold = PREPARED_AFTER  # Django's own statements are never prepared
    with connection.wrap_database_errors:  # the driver's error, which callers would not recognize as a lost connection
        _plan(connection.connection, generic)
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


def _plan(own: Connection[Any], generic: bool) -> None:
    """Change the connection's mode where it has another one, which most requests of a kind do not need."""
    if generic == _generic.get(own, False):
        return
    if not connection.in_atomic_block:
        own.execute(f"SET plan_cache_mode = {'force_generic_plan' if generic else 'auto'}")
        _generic[own] = generic
    elif not generic:  # until the transaction ends
        own.execute("SET LOCAL plan_cache_mode = auto")


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
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def records(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows by column name as the one value of `json_populate_recordset`, which reads them by the types of a table.

    >>> records([{"number": 1, "hash": b"\\x0f", "at": datetime(2026, 3, 1)}])
    '[{"number": 1, "hash": "\\\\\\\\x0f", "at": "2026-03-01T00:00:00"}]'
    """
    return json.dumps(list(rows), default=_as_json, ensure_ascii=False)


def _as_json(value: datetime | bytes) -> str:
    return value.isoformat() if isinstance(value, datetime) else f"\\x{value.hex()}"


def rows_of(cursor: CursorWrapper) -> list[Any]:
    """The rows of the statement that one of Django's cursors has executed, as named tuples."""
    cursor.cursor.row_factory = namedtuple_row
    return list(cursor.fetchall())


def among(ids: Iterable[int]) -> RawSQL:
    """Numbers for `pk__in` as one array: serializing each as a parameter takes longer than finding its row."""
    return RawSQL("SELECT unnest(%s::bigint[])", [f"{{{','.join(map(str, ids))}}}"])


def _written(value: Any) -> Any:
    """Lists of numbers, words or bytes as Postgres array literals: psycopg's own array adapters are slow."""
    if isinstance(value, list) and value:
        if type(value[0]) is int:
            return f"{{{','.join(map(str, value))}}}"
        if type(value[0]) is bytes:
            return "{" + ",".join([rf'"\\x{each.hex()}"' for each in value]) + "}"
        if type(value[0]) is str:
            return f"{{{','.join(map(_quoted, value))}}}"
    return value


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
