"""What happens to the database before the portal starts: a program of its own, so that its supervisor stays small.

Several starts may meet on one database: those of a fleet, or of two checkouts. One at a time migrates and fills it.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
import psycopg
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
from portal.console import STEP
from portal.environment import BadEnvironment

PREPARING = 0x5052_4550  # advisory lock: "PREP"
ASK_EVERY = 0.2  # s between two attempts to get the lock
REPORT_EVERY = 10.0  # s between two lines about what takes long


def main(arguments: list[str]) -> None:
    """Migrate the database and, unless only that is wanted, create what a portal needs before its first page."""
    _load_chosen_classes()
    django.setup()
    try:
        connection.ensure_connection()
    except OperationalError as error:
        sys.exit(f"The database does not answer: {' '.join(str(error).split())}")
    with _alone():
        _migrate()
        if arguments != ["migrate"]:
            call_command("prepare")


def _load_chosen_classes() -> None:
    """Make what the environment names by class, so that a wrong name or option stops the start, not the first use."""
    for names, load in (
        ("WIREBEAT_DOCUMENTS_STORAGE, WIREBEAT_DOCUMENTS_OPTIONS", lambda: storages["documents"]),
        ("EMAIL_BACKEND", get_connection),
    ):
        try:
            load()
        except (ImportError, ImproperlyConfigured, TypeError) as error:
            raise BadEnvironment(f"{names}: {error}") from error
        except Exception as error:  # whatever a class does with its options, which may hold keys and are not shown
            raise BadEnvironment(f"{names}: refused with {type(error).__name__}") from error


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock, on a connection of its own: a migration may close Django's.

    The lock is asked for again and again. Who waits for it within a statement has a snapshot, for which an index that
    the other start creates concurrently would wait in turn.
    """
    with databases.connect() as holder:
        reported = -REPORT_EVERY
        while not _take(holder):
            if time.monotonic() - reported >= REPORT_EVERY:
                reported = time.monotonic()
                _step("waiting for another start, which prepares the same database")
            time.sleep(ASK_EVERY)
        yield


def _take(holder: psycopg.Connection[Any]) -> bool:
    row = holder.execute("SELECT pg_try_advisory_lock(%s)", [PREPARING]).fetchone()
    return row is not None and bool(row[0])


def _migrate() -> None:
    with databases.connect() as reader:
        if unknown := schema.unknown(reader):
            sys.exit(
                f"The database {databases.name()} was made by another version of Wirebeat: it has {len(unknown)}"
                f" migrations that this one does not have ({unknown[0]}). Export its data with that version, by"
                " `manage.py backup` and from each account, and start this one with an empty database"
                " (DATABASE_URL or WIREBEAT_VAR)."
            )
        applied = schema.applied(reader)
    command = _Migrate(len(schema.known() - applied))
    if not applied:
        executor = MigrationExecutor(connection, command.migration_progress_callback)
        everything = executor.loader.graph.leaf_nodes()
        executor.migrate(everything, state=_GrowingState(real_apps=executor.loader.unmigrated_apps))
    call_command(command, interactive=False, verbosity=0)


class _GrowingState(ProjectState):
    """The models of a database that is being made.

    Django renders all models again that are related to a new one, for whoever still reads the former state. Nobody
    does while tables are made, and it takes half of the time.
    """

    def add_model(self, model_state: ModelState) -> None:
        rendered: StateApps | None = self.__dict__.pop("apps", None)
        super().add_model(model_state)
        if rendered is not None:
            rendered.render_multiple([model_state])
            self.apps = rendered


class _Migrate(migrate.Command):
    """Django's command, which says now and then how far it has got."""

    def __init__(self, missing: int) -> None:
        super().__init__()
        self._missing = missing
        self._begun = 0
        self._reported = time.monotonic()

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool | None = False) -> None:
        if action != "apply_start":
            return
        self._begun += 1
        if time.monotonic() - self._reported >= REPORT_EVERY:
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
