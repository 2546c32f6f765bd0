"""The one clock that all machines share is the database's: their own may be wrong, or be set while they work."""

import time
from datetime import datetime, timedelta
from threading import Lock

from django.db import connection

ASKED_EVERY = 10.0  # s


class DatabaseClock:
    """Postgres' clock, asked now and then, and counted on in between by a clock that nobody can set."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._told: datetime | None = None
        self._at = 0.0  # of time.monotonic()

    def now(self) -> datetime:
        """The instant, asked for anew if the last answer is old."""
        with self._lock:
            asked = time.monotonic()
            if self._told is None or asked - self._at > ASKED_EVERY:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT clock_timestamp()")
                    [self._told] = cursor.fetchone()
                self._at = (asked + time.monotonic()) / 2
            return self._counted()

    def counted(self) -> datetime:
        """The instant as it follows from the last answer, for those who cannot wait for another one."""
        with self._lock:
            return self._counted()

    def _counted(self) -> datetime:
        assert self._told is not None, "the clock was never asked"
        return self._told + timedelta(seconds=time.monotonic() - self._at)
