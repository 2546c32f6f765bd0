"""What can be seen of a portal from outside: who leads, who works, whether pages are answered."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import psycopg

from apps.retrieval.scheduler.beat import LEADERSHIP
from portal.launcher.embedded import StartError

LOOK_EVERY = 0.05  # s
PATIENCE = 180.0  # s until all works again; the machine may be busy

_LEADER = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND classid = 0 AND objid = %s AND granted AND pg_database.datname = current_database()
"""
# A beat that stands by asks again and again whether the leader hangs.
_STANDBYS = """
SELECT DISTINCT application_name FROM pg_stat_activity
WHERE strpos(query, 'pg_terminate_backend') > 0 AND pid <> pg_backend_pid() AND state <> 'active'
    AND state_change > clock_timestamp() - interval '2 seconds'
"""
_HEARD_OF = "SELECT DISTINCT application_name FROM pg_stat_activity WHERE state_change > %s"
_STORED = "SELECT stored_at FROM retrieval_retrieval WHERE stored_at > %s ORDER BY 1"


class Watch:
    """Asks Postgres, by a connection that is made anew when it is lost."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: psycopg.Connection[Any] | None = None

    def leader(self) -> str:
        """The name of the beat that leads; empty if none does, or Postgres does not answer."""
        return next((name for (name,) in self.ask(_LEADER, [LEADERSHIP])), "")

    def standbys(self) -> set[str]:
        return {name for (name,) in self.ask(_STANDBYS, [])}

    def heard_of(self, since: datetime) -> set[str]:
        """The names of programs that have asked Postgres something since."""
        return {name for (name,) in self.ask(_HEARD_OF, [since])}

    def stored(self, since: datetime) -> list[datetime]:
        """When retrievals were stored."""
        return [at for (at,) in self.ask(_STORED, [since])]

    def ask(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
        try:
            if self._connection is None:
                self._connection = psycopg.connect(
                    self._address, autocommit=True, connect_timeout=2, options="-c statement_timeout=2000"
                )
            return self._connection.execute(statement, values or None).fetchall()
        except psycopg.Error:
            self.close()
            return []

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def wait_for(missing: Callable[[], str], what: str, within: float = PATIENCE) -> float:
    """Seconds until nothing is missing.

    Raises
    ------
    StartError
        If something still is.
    """
    started = time.monotonic()
    while still := missing():
        if time.monotonic() - started > within:
            raise StartError(f"Waited for {within:.0f} s for {what}; what is missing: {still}.")
        time.sleep(LOOK_EVERY)
    return time.monotonic() - started
