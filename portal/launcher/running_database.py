"""The embedded servers for a command that needs them while the portal does not run."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connections

from portal import databases, environment
from portal.launcher import embedded, servers, startup
from portal.launcher.console import QUIET, Console
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Supervisor


@contextmanager
def database_answers() -> Iterator[None]:
    """Where the settings lead to the embedded Postgres and it does not run, it runs until the end of the block.

    Raises
    ------
    StartError
        If the database does not answer; the message says what to do.
    """
    try:
        databases.connect().close()
    except psycopg.OperationalError as error:
        if environment.text("DATABASE_URL"):
            raise StartError(f"The database does not answer: {error}") from error
    else:
        yield
        return
    var = startup.data_folder()
    var.mkdir(parents=True, exist_ok=True)
    with (var / "up.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError("The portal is just starting or stopping; try again in a moment.") from None
        sockets = embedded.make_run_directory(var)
        supervisor = Supervisor(Console(var / "log", QUIET))
        try:
            supervisor.start(servers.postgres(var / "pg", sockets, servers.postgres_settings()))
            if not environment.text("CACHE_URL"):
                supervisor.start(servers.valkey(var / "valkey", sockets))  # the cache is emptied after a restore
            yield
        finally:
            connections.close_all()
            supervisor.stop()
