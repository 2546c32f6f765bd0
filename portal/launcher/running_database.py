"""The embedded servers for commands that need them while the portal does not run."""

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
    """Run the embedded servers within the block, if the settings name them and they do not run already.

    Raises StartError if the database does not answer.
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
    with startup.locked(var):  # if the portal is just starting or stopping, the lock is taken
        sockets = embedded.make_run_directory(var)
        supervisor = Supervisor(Console(var / "log", QUIET))
        try:
            supervisor.start(servers.postgres(var / "pg", sockets, servers.postgres_settings(data=var / "pg")))
            if not environment.text("CACHE_URL"):
                supervisor.start(servers.valkey(var / "valkey", sockets))  # the cache is emptied after a restore
            yield
        finally:
            connections.close_all()
            supervisor.stop()
