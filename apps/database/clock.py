"""The database's clock, which all machines share: a machine's own may be wrong or be set while it runs."""

import time
from datetime import datetime, timedelta
from threading import Lock

from django.db import connection

READ_EVERY_SECONDS = 10.0


class DatabaseClock:
    """Postgres' clock, read every 10 s; in between, the monotonic clock, which cannot be set, is added."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._time: datetime | None = None
        self._read_at = 0.0  # of time.monotonic()

    def now(self) -> datetime:
        """The current time, after a query if the last one is old."""
        with self._lock:
            started = time.monotonic()
            if self._time is None or started - self._read_at > READ_EVERY_SECONDS:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT clock_timestamp()")
                    [self._time] = cursor.fetchone()
                self._read_at = (started + time.monotonic()) / 2
            return self._extrapolated()

    def counted(self) -> datetime:
        """The current time without a query, for callers that cannot wait for one."""
        with self._lock:
            return self._extrapolated()

    def _extrapolated(self) -> datetime:
        assert self._time is not None, "the clock was never read"
        return self._time + timedelta(seconds=time.monotonic() - self._read_at)
