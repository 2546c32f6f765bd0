"""How long tasks that work in batches run, and threads keep what they rarely use."""

import time
from collections.abc import Callable
from threading import Event

BUSY_TASKS = 5  # of a thread within the time below; the few of each minute are no reason to keep a session
RARE_SECONDS = 10.0  # between two uses; then a thread keeps no session of Postgres, which takes 3 MB
stopping = Event()  # set when this worker is to stop


def within(seconds: float) -> Callable[[], bool]:
    """A function that returns whether the task may begin another batch: until its time is over, or its worker stops."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() < until and not stopping.is_set()
