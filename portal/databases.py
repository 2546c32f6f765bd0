"""Postgres for `backup`, `restore` and `doctor`: client programs, sessions, and contents of tables."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import class_row, dict_row

from apps.database import schema
from portal.launcher import embedded
from portal.launcher.embedded import StartError

Connection = psycopg.Connection[Any]

ADMINISTRATION = "postgres"  # the database from which others are created and renamed
CONNECT_WITHIN = 10  # s
# Rows have the same text on every server, and no statement times out.
PLAIN = (
    "SET client_encoding = 'UTF8'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET timezone = 'UTC';"
    " SET extra_float_digits = 1; SET bytea_output = 'hex'; SET statement_timeout = 0; SET lock_timeout = 0;"
    " SET idle_in_transaction_session_timeout = 0"
)
TABLES = """
SELECT class.relname FROM pg_class class JOIN pg_namespace ON pg_namespace.oid = class.relnamespace
WHERE nspname = 'public' AND class.relkind = 'r' ORDER BY 1
"""
# A sum, independent of the order of rows; with XOR, equal rows would cancel each other.
CONTENT = """
SELECT count(*) AS rows, coalesce(sum(('x' || left(md5(row_of::text), 16))::bit(64)::bigint), 0)::text AS hash
FROM {table} row_of
"""


class Content(NamedTuple):
    """The contents of a table."""

    rows: int
    hash: str


def connect(name: str = "") -> Connection:
    """A connection to the portal's database, or to another one of the same server, apart from Django's."""
    parameters = schema.parameters(connections["default"].get_connection_params())
    parameters |= {"autocommit": True, "connect_timeout": CONNECT_WITHIN} | ({"dbname": name} if name else {})
    connection: Connection = psycopg.connect(**parameters)
    connection.execute(PLAIN)
    return connection


def newer_schema(connection: Connection) -> str:
    """A sentence if the database has migrations that this version does not have; or nothing."""
    if not (unknown := schema.unknown(connection)):
        return ""
    return (
        f"The database {name()} was made by another version of Wirebeat: it has {len(unknown)} migrations that"
        f" {settings.VERSION} does not have ({unknown[0]}). Start the newer version; or restore a backup of this one's"
        " time, by `manage.py restore`; or export its data with that version, by `manage.py backup` and from each"
        " account, and start this one with an empty database (DATABASE_URL or WIREBEAT_VAR)."
    )


def refuse_newer_schema() -> bool:
    """End this process if a newer version has migrated the database. Returns whether it has this version's schema."""
    with suppress(psycopg.OperationalError), connect() as connection:
        if problem := newer_schema(connection):
            sys.exit(problem)
        return schema.known() <= schema.applied(connection)
    return False


def name() -> str:
    """The name of the portal's database."""
    return str(connections["default"].settings_dict["NAME"])


def contents(connection: Connection) -> dict[str, Content]:
    """Row counts and hashes of all tables, by name."""
    found = {}
    cursor = connection.cursor(row_factory=class_row(Content))
    for (table,) in connection.execute(TABLES).fetchall():
        statement = sql.SQL(CONTENT).format(table=sql.Identifier("public", table))
        [found[table]] = cursor.execute(statement).fetchall()
    return found


def is_empty(connection: Connection) -> bool:
    return connection.execute(TABLES).fetchone() is None


def sessions(connection: Connection, database: str) -> int:
    """The number of other sessions in a database."""
    statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    [[count]] = connection.execute(statement, [database]).fetchall()
    return int(count)


def make_like(connection: Connection, model: str, new: str) -> None:
    """Make an empty database with the encoding and the locale of another one."""
    cursor = connection.cursor(row_factory=dict_row)
    [row] = cursor.execute(
        "SELECT pg_encoding_to_char(encoding) AS encoding, datcollate, datctype, datlocprovider::text,"
        " coalesce(to_jsonb(pg_database)->>'datlocale', to_jsonb(pg_database)->>'daticulocale') AS locale"
        " FROM pg_database WHERE datname = %s",
        [model],
    ).fetchall()
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}").format(
        sql.Identifier(new), *(sql.Literal(row[name]) for name in ("encoding", "datcollate", "datctype"))
    )
    if word := {"b": "builtin", "i": "icu"}.get(row["datlocprovider"]):
        statement += sql.SQL(f" LOCALE_PROVIDER {word} {word.upper()}_LOCALE {{}}").format(sql.Literal(row["locale"]))
    connection.execute(statement)


def drop(connection: Connection, database: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


def exchange(connection: Connection, present: str, new: str, former: str) -> None:
    """Rename `present` to `former` and `new` to `present`, atomically; neither may have sessions."""
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    with connection.transaction():
        connection.execute(rename.format(sql.Identifier(present), sql.Identifier(former)))
        connection.execute(rename.format(sql.Identifier(new), sql.Identifier(present)))


def program(name: str, server_version: int) -> Path:
    """The program `pg_dump` or `pg_restore` of the server's release, else of the next newer one.

    Raises StartError if there are only older ones, which do not know all features of the server.
    """
    folders = [Path(found).resolve().parent] if (found := shutil.which(name)) else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    with suppress(StartError):
        folders.insert(0, embedded.postgres_programs())
    versions = {
        folder / name: embedded.release(folder / name) for folder in reversed(folders) if (folder / name).is_file()
    }
    needed = server_version // 10_000
    fitting = {path: version for path, version in versions.items() if version >= needed}
    if fitting:
        return min(fitting, key=lambda path: fitting[path])
    if versions:
        raise StartError(
            f"The server is Postgres {needed}, and the newest {name} here is of Postgres {max(versions.values())}:"
            f" install the client programs of Postgres {needed}."
        )
    raise StartError(f"{name} is not installed here: install the client programs of Postgres {needed}.")


@contextmanager
def running(
    program: Path,
    options: Sequence[str],
    database: str = "",
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A running Postgres program; raises StartError with its standard error if it fails by the end of the block."""
    where, environment = command_line(database)
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [program, *options, f"--dbname={where}"],
            stdin=stdin,
            stdout=stdout,
            stderr=complaints,
            env=environment,
        )
        try:
            yield process
            code = process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
        if code:
            complaints.seek(0)
            raise StartError(f"{program.name} failed: {complaints.read().decode(errors='replace').strip()}")


def command_line(database: str) -> tuple[str, Mapping[str, str]]:
    """The argument and the environment for a Postgres program; only the environment has the password."""
    parameters = schema.parameters(connections["default"].get_connection_params())
    password = str(parameters.pop("password", "") or "")
    for ours in ("prepare_threshold", "autocommit", "client_encoding"):
        parameters.pop(ours, None)
    if database:
        parameters["dbname"] = database
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return make_conninfo(**parameters), environment | ({"PGPASSWORD": password} if password else {})
