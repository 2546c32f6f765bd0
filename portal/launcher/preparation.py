"""Prepares the database before the portal starts: a separate program, so that the supervisor stays small.

An advisory lock serializes simultaneous starts on one database, of several machines or checkouts.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages
from django.core.mail import get_connection
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ModelState, ProjectState, StateApps

from apps.database import schema
from portal import databases
from portal.environment import BadEnvironment
from portal.launcher.console import STEP

PREPARING = 0x5052_4550  # advisory lock: "PREP"
LOCK_POLL_SECONDS = 0.2
REPORT_SECONDS = 10.0  # between two lines about slow steps


def main(arguments: list[str]) -> None:
    """Migrate the database and, unless the argument is `migrate`, run the command `prepare` with the arguments."""
    _load_chosen_classes()
    django.setup()
    try:
        connection.ensure_connection()
    except OperationalError as error:
        sys.exit(f"The database does not answer: {' '.join(str(error).split())}")
    with _alone():
        _migrate()
        if arguments != ["migrate"]:
            call_command("prepare", *arguments)


def _load_chosen_classes() -> None:
    """Instantiate classes named in the environment, so that a wrong one fails at the start, not at the first use."""
    for names, load in (
        ("WIREBEAT_DOCUMENTS_STORAGE, WIREBEAT_DOCUMENTS_OPTIONS", lambda: storages["documents"]),
        ("EMAIL_BACKEND", get_connection),
    ):
        try:
            load()
        except (ImportError, ImproperlyConfigured, TypeError) as error:
            raise BadEnvironment(f"{names}: {error}") from error
        except Exception as error:  # by its own code; options may hold keys and are not shown
            raise BadEnvironment(f"{names}: refused with {type(error).__name__}") from error


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the advisory lock, on a separate connection: a migration may close Django's.

    The lock is polled. A statement that waits for it would hold a snapshot, and CREATE INDEX CONCURRENTLY of the other
    start would wait for that snapshot: a deadlock.
    """
    with databases.connect() as holder:
        reported = -REPORT_SECONDS
        while not _try_lock(holder):
            if time.monotonic() - reported >= REPORT_SECONDS:
                reported = time.monotonic()
                _step("waiting for another start, which prepares the same database")
            time.sleep(LOCK_POLL_SECONDS)
        yield


def _try_lock(holder: databases.Connection) -> bool:
    [[granted]] = holder.execute("SELECT pg_try_advisory_lock(%s)", [PREPARING])
    return bool(granted)


def _migrate() -> None:
    with databases.connect() as reader:
        if problem := databases.newer_schema(reader):
            sys.exit(problem)
        applied = schema.applied(reader)
    missing = schema.known() - applied
    if not missing:
        return  # Django's command would still compare all models with all migrations
    command = _Migrate(len(missing))
    if not applied:
        executor = MigrationExecutor(connection, command.migration_progress_callback)
        everything = executor.loader.graph.leaf_nodes()
        executor.migrate(everything, state=_GrowingState(real_apps=executor.loader.unmigrated_apps))
    call_command(command, interactive=False, verbosity=0)


class _GrowingState(ProjectState):
    """The models of a new database.

    For each new model, Django renders all related models again, for readers of the former state. A new database has no
    such readers, and this takes half of the time.
    """

    def add_model(self, model_state: ModelState) -> None:
        rendered: StateApps | None = self.__dict__.pop("apps", None)
        super().add_model(model_state)
        if rendered is not None:
            rendered.render_multiple([model_state])
            self.apps = rendered


class _Migrate(migrate.Command):
    """Django's command, with progress reports."""

    def __init__(self, missing: int) -> None:
        super().__init__()
        self._missing = missing
        self._begun = 0
        self._reported = time.monotonic()

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool | None = False) -> None:
        if action != "apply_start":
            return
        self._begun += 1
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self._reported = time.monotonic()
            _step(f"migration {self._begun} of {self._missing}: {migration}")


def _step(text: str) -> None:
    print(f"{STEP}{text}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    try:
        main(sys.argv[1:])
    except BadEnvironment as error:
        sys.exit(str(error))
