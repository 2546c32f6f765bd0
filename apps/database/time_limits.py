"""How long a task that works in batches runs: until its time is over, or its worker stops."""

import time
from collections.abc import Callable
from threading import Event

stopping = Event()  # set when this worker is to stop


def within(seconds: float) -> Callable[[], bool]:
    """A function that returns whether the task may begin another batch."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() < until and not stopping.is_set()
