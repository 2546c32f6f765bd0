"""Observes a portal through Postgres: which beat leads, which workers are active, when retrievals are stored."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import psycopg

from apps.retrieval.scheduler.beat import LEADERSHIP
from portal.launcher.embedded import StartError

POLL_SECONDS = 0.1
STALLED_AFTER_SECONDS = 300.0  # on a busy machine a worker alone takes two minutes to start
MAX_STALLS = 10  # of that length, in which something changes and nothing ends

_LEADER = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND classid = 0 AND objid = %s AND granted AND pg_database.datname = current_database()
"""
# A standby beat polls whether the leader hangs.
_STANDBYS = """
SELECT DISTINCT application_name FROM pg_stat_activity
WHERE strpos(query, 'pg_terminate_backend') > 0 AND pid <> pg_backend_pid() AND state <> 'active'
    AND state_change > clock_timestamp() - interval '2 seconds'
"""
_ACTIVE = "SELECT application_name, max(state_change) FROM pg_stat_activity WHERE state_change > %s GROUP BY 1"
_STORED = "SELECT stored_at FROM retrieval_retrieval WHERE stored_at > %s ORDER BY 1"


class Watch:
    """Queries Postgres; reconnects when the connection is lost."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: psycopg.Connection[Any] | None = None
        self._active: dict[str, datetime] = {}  # when programs have sent a query, as far as it was seen

    def leader(self) -> str:
        """The name of the beat that leads; empty if none does, or Postgres does not answer."""
        return next((name for (name,) in self._query(_LEADER, [LEADERSHIP])), "")

    def standbys(self) -> set[str]:
        return {name for (name,) in self._query(_STANDBYS, [])}

    def active_programs(self, since: datetime) -> set[str]:
        """The names of programs that have sent a query since; some keep their sessions only for moments."""
        self._active |= dict(self._query(_ACTIVE, [since]))
        return {name for name, at in self._active.items() if at > since}

    def stored(self, since: datetime) -> list[datetime]:
        """When retrievals were stored."""
        return [at for (at,) in self._query(_STORED, [since])]

    def _query(self, statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
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


def wait_for(missing: Callable[[], str], what: str, stalled_after: float = STALLED_AFTER_SECONDS) -> float:
    """Wait until nothing is missing, and return the seconds that took.

    It waits as long as the state changes, since the time depends on the load of the machine.

    Raises
    ------
    StartError
        If the same has been missing for `stalled_after` seconds, or something for `MAX_STALLS` times as long.
    """
    started = changed = time.monotonic()
    before = ""
    while still := missing():
        now = time.monotonic()
        if still != before:
            before, changed = still, now
        if now - changed > stalled_after or now - started > MAX_STALLS * stalled_after:
            raise StartError(f"Waited {now - started:.0f} s for {what}; still missing: {still}.")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - started
