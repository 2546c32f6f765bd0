"""Temporary Postgres, Valkey and documents for one command: tests, benchmarks and evaluations."""

import fcntl
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psycopg

from lab import clusters
from portal.launcher import embedded, privileges, processes, servers
from portal.launcher.console import QUIET, Console
from portal.launcher.embedded import StartError
from portal.launcher.processes import Stopped
from portal.launcher.supervisor import Supervisor

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "wirebeat-throwaway-"
TEMPLATE = f"{embedded.DATABASE}_template"  # of the databases of tests
FOR_TESTS = servers.postgres_settings() | servers.WITHOUT_DURABILITY
FOR_MEASURING = servers.postgres_settings(shared_buffers=2**30)


class Ending(NamedTuple):
    """How a command ended."""

    code: int  # for the shell
    stopped: bool  # by a signal to this process


def run(command: Sequence[str], settings: Mapping[str, str], *, migrated: bool) -> int:
    """Run a command of this checkout on temporary servers; returns its exit code."""
    processes.hold_signals()
    try:
        with running(settings, migrated=migrated) as environment:
            return run_in_front(command, environment).code
    except StartError as error:
        sys.exit(str(error))
    except Stopped as stopped:
        return 128 + stopped.number


@contextmanager
def running(settings: Mapping[str, str], *, migrated: bool) -> Iterator[dict[str, str]]:
    """Start the servers, and yield an environment with their addresses."""
    with folder() as var:
        if migrated:
            copy_migrated_cluster(var / "pg")
        with _serving(var, settings) as environment:
            yield environment


def copy_migrated_cluster(data: Path) -> None:
    """Make a cluster in `data` whose database has all migrations applied, and no other rows."""
    clusters.copy(data, make=_make_migrated_cluster)


def keep_as_template(environment: Mapping[str, str]) -> None:
    """Rename the migrated database to `TEMPLATE`, which then has no sessions, and create an empty one in its place."""
    with psycopg.connect(environment["DATABASE_URL"], dbname="postgres", autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {embedded.DATABASE} RENAME TO {TEMPLATE}")
        connection.execute(f"CREATE DATABASE {embedded.DATABASE}")


def _make_migrated_cluster(data: Path) -> None:
    with folder() as var:
        with _serving(var, FOR_TESTS) as environment:
            migration = run_in_front([sys.executable, "-m", "portal.launcher.preparation", "migrate"], environment)
        if migration.code:
            raise StartError(f"The database could not be migrated (code {migration.code}).")
        shutil.move(var / "pg", data)


@contextmanager
def _serving(var: Path, settings: Mapping[str, str]) -> Iterator[dict[str, str]]:
    sockets = embedded.make_run_directory(var)
    supervisor = Supervisor(Console(var / "log", QUIET))
    try:
        supervisor.start(servers.postgres(var / "pg", sockets, settings), servers.valkey(var / "valkey", sockets))
        yield os.environ | {
            "DATABASE_URL": embedded.database_url(var),
            "BROKER_URL": embedded.broker_url(var),
            "CACHE_URL": embedded.cache_url(var),
            "WIREBEAT_DOCUMENTS_STORAGE": "django.core.files.storage.FileSystemStorage",
            "WIREBEAT_DOCUMENTS_OPTIONS": json.dumps({"location": str(var / "documents")}),
            "WIREBEAT_THROWAWAY": "1",
        }
    finally:
        supervisor.stop()
        shutil.rmtree(sockets, ignore_errors=True)


def run_in_front(command: Sequence[str], environment: Mapping[str, str]) -> Ending:
    """Run a command in the foreground, and forward signals that only this process received."""
    child = processes.spawn(command, in_our_group=True, stdin=None, env=environment, cwd=ROOT)
    stopped = False
    while child.poll() is None:
        try:
            processes.pause(1.0)
        except Stopped as signal:
            stopped = True
            if not signal.by_terminal:  # the terminal signals all foreground processes itself
                child.send_signal(signal.number)
    code = child.returncode
    return Ending(code if code >= 0 else 128 - code, stopped)


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary, locked data folder; unlocked ones of killed owners are removed."""
    base = Path(tempfile.gettempdir())
    for earlier in base.glob(f"{PREFIX}*"):
        with suppress(OSError), (earlier / "lock").open("rb") as lock:  # locked, or another user's
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(embedded.run_directory(earlier), ignore_errors=True)
            shutil.rmtree(earlier, ignore_errors=True)
    var = Path(tempfile.mkdtemp(prefix=PREFIX))
    privileges.hand_over(var)
    try:
        with (var / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield var
    finally:
        shutil.rmtree(var, ignore_errors=True)
