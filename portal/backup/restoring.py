"""`manage.py restore`. The current database is replaced only after the restored one has been verified.

1. The whole archive is read and compared with its manifest.
2. The dump goes into a new database beside the present one, and its tables are compared with the manifest.
3. Migrations that are newer than the archive are applied to the new database.
4. The documents are written. They are named by their content, so none can overwrite another.
5. The new database gets the name of the present one, in one transaction, and that one is dropped.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import redis
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connections

from apps.database import schema
from apps.documents import storage
from portal import databases
from portal.backup import archives
from portal.backup.archives import BadArchive, Manifest
from portal.databases import Content
from portal.launcher.embedded import StartError

MAX_NAMED = 5  # differing tables in a sentence
Log = Callable[[str], object]


def restore(file: Path, log: Log, *, replace: bool = False) -> Manifest:
    """Replace the present database by an archive; on BadArchive and StartError it is unchanged."""
    connections["default"].close()  # an open connection would count as a session
    manifest = _read(file, log)
    present = databases.name()
    with databases.connect() as connection:
        _refuse_used(connection, present, replace=replace)
    with _restored(file, manifest, f"{present}_restored", log) as new:
        log("Writing the documents ...")
        _write_documents(file)
        _put_in_place(present, new, f"{present}_replaced")
    _clear_cache(log)
    return manifest


def test_archive(file: Path, log: Log) -> Manifest:
    """Restore an archive beside the present database, which stays, and drop it again; the portal may run meanwhile."""
    manifest = _read(file, log)
    with _restored(file, manifest, f"{databases.name()}_tested", log):
        return manifest


def _read(file: Path, log: Log) -> Manifest:
    log(f"Reading {file} ...")
    manifest = archives.verified(file)
    _refuse_newer(manifest)
    return manifest


@contextmanager
def _restored(file: Path, manifest: Manifest, new: str, log: Log) -> Iterator[str]:
    """A new database with what the archive holds, compared and migrated; it is dropped unless it got another name."""
    present = databases.name()
    with databases.connect() as connection:
        program = databases.program("pg_restore", max(connection.info.server_version, manifest.server_version))
    try:
        with _administration() as administration:
            databases.drop(administration, new)
            databases.make_like(administration, present, new)
        log("Restoring the database ...")
        _load(program, file, new)
        log("Comparing it with the manifest ...")
        with databases.connect(new) as connection:
            _compare(manifest.tables, databases.contents(connection))
            connection.execute("ANALYZE")
        if behind := schema.known() - manifest.migrations:
            log(f"Carrying out {len(behind)} newer migrations ...")
            _migrate(new)
        yield new
    finally:
        with suppress(StartError, psycopg.Error), _administration() as administration:
            databases.drop(administration, new)


def _refuse_newer(manifest: Manifest) -> None:
    if _numbers(manifest.version) > _numbers(settings.VERSION) or manifest.migrations - schema.known():
        raise BadArchive(
            f"The archive was made by Wirebeat {manifest.version}, which is newer than this one"
            f" ({settings.VERSION}) or has other migrations: restore it with the program that made it."
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _refuse_used(connection: databases.Connection, present: str, *, replace: bool) -> None:
    if not replace and not databases.is_empty(connection):
        raise StartError(
            f"The database {present} is not empty. Restore into an empty one, or say --replace to lose what it holds."
        )
    if others := databases.sessions(connection, present):
        raise StartError(
            f"{others} others are connected to the database {present}: stop the site, the workers and beat first."
        )


@contextmanager
def _administration() -> Iterator[databases.Connection]:
    try:
        with databases.connect(databases.ADMINISTRATION) as connection:
            yield connection
    except psycopg.errors.InsufficientPrivilege as error:
        raise StartError(f"The database's user may not make or rename databases (CREATEDB): {error}") from error
    except psycopg.errors.ObjectInUse as error:
        raise StartError(f"Another session is still connected to the database: {error}") from error


def _load(program: Path, file: Path, database: str) -> None:
    """Feed the pieces of the dump to pg_restore."""
    options = ["--exit-on-error", "--no-owner", "--no-privileges"]
    with databases.running(program, options, database, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:  # pg_restore reports why it ended early
            for name, piece in archives.members(file):
                if not name.startswith(archives.DATABASE):
                    break
                process.stdin.write(piece)


def _compare(expected: Mapping[str, Content], found: Mapping[str, Content]) -> None:
    wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if wrong:
        named = ", ".join(wrong[:MAX_NAMED])
        raise StartError(f"{len(wrong)} tables are not as they were backed up ({named}); nothing was replaced.")


def _write_documents(file: Path) -> None:
    for name, stored in archives.members(file):
        if name.startswith(archives.DOCUMENTS):
            storage.write(bytes.fromhex(name.removeprefix(archives.DOCUMENTS)), stored)


def _migrate(database: str) -> None:
    """Apply this program's migrations to the restored database."""
    connection = connections["default"]
    present = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database
    try:
        call_command("migrate", interactive=False, verbosity=0)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = present


def _put_in_place(present: str, new: str, former: str) -> None:
    connections["default"].close()
    with _administration() as administration:
        databases.drop(administration, former)
        databases.exchange(administration, present, new, former)
        databases.drop(administration, former)


def _clear_cache(log: Log) -> None:
    try:
        cache.clear()
    except redis.RedisError as error:
        log(f"The cache does not answer ({error}); empty it before the portal starts.")
