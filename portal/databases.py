"""Postgres as `backup`, `restore` and `doctor` see it: its programs, its sessions, and what its tables hold."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

from apps.database import schema
from portal.launcher import embedded
from portal.launcher.embedded import StartError

Connection = psycopg.Connection[Any]

ADMINISTRATION = "postgres"  # the database from which others are made and renamed
CONNECT_WITHIN = 10  # s
# However a server is set up, a row is written in the same letters, and no statement is given up.
PLAIN = (
    "SET client_encoding = 'UTF8'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET timezone = 'UTC';"
    " SET extra_float_digits = 1; SET bytea_output = 'hex'; SET statement_timeout = 0; SET lock_timeout = 0;"
    " SET idle_in_transaction_session_timeout = 0"
)
TABLES = """
SELECT class.relname FROM pg_class class JOIN pg_namespace ON pg_namespace.oid = class.relnamespace
WHERE nspname = 'public' AND class.relkind = 'r' ORDER BY 1
"""
# A sum, so that the order of rows does not matter and equal rows do not cancel each other.
CONTENT = """
SELECT count(*), coalesce(sum(('x' || left(md5(row_of::text), 16))::bit(64)::bigint), 0)::text FROM {table} row_of
"""


class Content(NamedTuple):
    """What a table holds."""

    rows: int
    hash: str


def connect(name: str = "") -> Connection:
    """A connection of our own to the portal's database, or to another one of the same server."""
    parameters = schema.parameters(connections["default"].get_connection_params())
    parameters |= {"autocommit": True, "connect_timeout": CONNECT_WITHIN} | ({"dbname": name} if name else {})
    connection: Connection = psycopg.connect(**parameters)
    connection.execute(PLAIN)
    return connection


def name() -> str:
    """The name of the portal's database."""
    return str(connections["default"].settings_dict["NAME"])


def contents(connection: Connection) -> dict[str, Content]:
    """Rows and hashes of all tables, by name."""
    found = {}
    for (table,) in connection.execute(TABLES).fetchall():
        row = connection.execute(sql.SQL(CONTENT).format(table=sql.Identifier("public", table))).fetchone()
        assert row is not None
        found[table] = Content(*row)
    return found


def is_empty(connection: Connection) -> bool:
    return connection.execute(TABLES).fetchone() is None


def sessions(connection: Connection, database: str) -> int:
    """How many others are connected to a database."""
    statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    row = connection.execute(statement, [database]).fetchone()
    return int(row[0]) if row else 0


def make_like(connection: Connection, model: str, new: str) -> None:
    """Make an empty database with the encoding and the locale of another one."""
    row = connection.execute(
        "SELECT pg_encoding_to_char(encoding), datcollate, datctype, datlocprovider::text,"
        " coalesce(to_jsonb(pg_database)->>'datlocale', to_jsonb(pg_database)->>'daticulocale')"
        " FROM pg_database WHERE datname = %s",
        [model],
    ).fetchone()
    assert row is not None
    encoding, collate, ctype, provider, locale = row
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE {} LC_CTYPE {}").format(
        sql.Identifier(new), sql.Literal(encoding), sql.Literal(collate), sql.Literal(ctype)
    )
    if provider in {"b", "i"}:
        word = {"b": "builtin", "i": "icu"}[provider]
        statement += sql.SQL(f" LOCALE_PROVIDER {word} {word.upper()}_LOCALE {{}}").format(sql.Literal(locale))
    connection.execute(statement)


def drop(connection: Connection, database: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


def exchange(connection: Connection, present: str, new: str, former: str) -> None:
    """Give the name of one database to another; both or none happens. Nobody may be connected to them."""
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    with connection.transaction():
        connection.execute(rename.format(sql.Identifier(present), sql.Identifier(former)))
        connection.execute(rename.format(sql.Identifier(new), sql.Identifier(present)))


def program(name: str, server_version: int) -> Path:
    """The program `pg_dump` or `pg_restore`: of the server's own release, else of the next newer one.

    Raises
    ------
    StartError
        If there is none, or only older ones, which do not know what the server may hold.
    """
    folders = [Path(found).resolve().parent] if (found := shutil.which(name)) else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    with suppress(StartError):
        folders.insert(0, embedded.postgres_programs())
    versions = {folder / name: _release(folder / name) for folder in reversed(folders) if (folder / name).is_file()}
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


def _release(path: Path) -> int:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0
    number = re.search(r"\)\s+(\d+)", said)
    return int(number[1]) if number else 0


@contextmanager
def running(
    program: Path,
    options: Sequence[str],
    database: str = "",
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A Postgres program at work on the database. When the block is left it must end, and well.

    Raises
    ------
    StartError
        With what it complained of.
    """
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
    """How a Postgres program finds the database: an argument, and an environment that alone holds the password."""
    parameters = schema.parameters(connections["default"].get_connection_params())
    password = str(parameters.pop("password", "") or "")
    for ours in ("prepare_threshold", "autocommit", "client_encoding"):
        parameters.pop(ours, None)
    if database:
        parameters["dbname"] = database
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return make_conninfo(**parameters), environment | ({"PGPASSWORD": password} if password else {})
