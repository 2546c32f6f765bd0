"""`manage.py backup`: one archive of a consistent snapshot of the database and the documents, while the portal runs."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

from django.conf import settings

from apps.database import schema
from apps.documents import storage
from portal import databases
from portal.backup import archives
from portal.backup.archives import Manifest
from portal.launcher.embedded import StartError

DOCUMENTS_PER_FETCH = 500  # rows of the list in memory
Log = Callable[[str], object]


def back_up(file: Path, log: Log) -> Manifest:
    """Write an archive and return its manifest; if it fails with StartError, an earlier archive of that name stays."""
    with databases.connect() as connection:
        program = databases.program("pg_dump", connection.info.server_version)
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        migrations = schema.applied(connection)
        if not migrations:
            raise StartError("The database is empty: there is nothing to back up.")
        snapshot = _snapshot(connection)
        with archives.written(file) as archive:
            log("Dumping the database ...")
            with _dump(program, snapshot) as stream:
                for number, piece in enumerate(iter(partial(stream.read, archives.PIECE), b"")):
                    archive.add(f"{archives.DATABASE}{number:06d}", piece)
            log("Copying the documents ...")
            documents, missing = _copy_documents(connection, archive)
            log("Counting and hashing the tables ...")
            contents = databases.contents(connection)
            return archive.finish(
                lambda sha256: Manifest(
                    version=settings.VERSION,
                    made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                    server_version=connection.info.server_version,
                    migrations=migrations,
                    tables=contents,
                    documents=documents,
                    missing=missing,
                    sha256=sha256,
                )
            )


def _snapshot(connection: databases.Connection) -> str:
    [[snapshot]] = connection.execute("SELECT pg_export_snapshot()").fetchall()
    return str(snapshot)


@contextmanager
def _dump(program: Path, snapshot: str) -> Iterator[IO[bytes]]:
    """The output of pg_dump for a snapshot; its exit code is checked at the end of the block."""
    options = ["--format=custom", "--compress=0", "--no-owner", "--no-privileges", f"--snapshot={snapshot}"]
    with databases.running(program, options, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with process.stdout:
            yield process.stdout


def _copy_documents(connection: databases.Connection, archive: archives.Writer) -> tuple[int, int]:
    """Copy documents; returns how many were copied, and how many had no file: they may expire meanwhile."""
    copied = missing = 0
    with connection.cursor("documents") as rows:
        rows.itersize = DOCUMENTS_PER_FETCH
        rows.execute("SELECT hash, stored_size FROM documents_rawdocument ORDER BY hash")
        for digest, size in rows:
            try:
                stored = storage.read(digest, size)
            except FileNotFoundError:
                missing += 1
                continue
            archive.add(f"{archives.DOCUMENTS}{digest.hex()}", stored)
            copied += 1
    return copied, missing
