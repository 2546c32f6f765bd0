"""How long tasks that work in batches run, and threads keep what they rarely use."""

import time
from collections.abc import Callable
from threading import Event

# A thread that uses its session of Postgres less often keeps none, which would take 3 MB.
BUSY_TASKS = 3  # within the time below; the two that often start together each minute are no reason to keep one
RARE_SECONDS = 10.0
stopping = Event()  # set when this worker is to stop


def within(seconds: float) -> Callable[[], bool]:
    """A function that returns whether the task may begin another batch: until its time is over, or its worker stops."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() < until and not stopping.is_set()
