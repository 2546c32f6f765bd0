"""Settings of gunicorn: one web process while few people read, a second one while that one is busy.

Threads of a process wait for its interpreter, and each process takes about 20 MB.
"""

import os
import signal
import time
from typing import Any

from apps.database import machine

MAX_PROCESSES = 1 if machine.is_small() else 2  # unless --workers says more
BUSY = (2.0, 0.5)  # seconds, and the share of a core in them, above which one process is not enough
CALM = (600.0, 0.05)  # the same, below which the second one is not needed


class Window:
    """A time in which the work of this process is measured."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin = (time.monotonic(), time.process_time())

    def share(self) -> float | None:
        """What share of a core the process took, if the window is over: then the next one begins."""
        passed, used = time.monotonic() - self._begin[0], time.process_time() - self._begin[1]
        if passed < self._seconds:
            return None
        self._begin = (self._begin[0] + passed, self._begin[1] + used)
        return used / passed


def post_fork(_server: Any, worker: Any) -> None:
    worker.busy, worker.calm = Window(BUSY[0]), Window(CALM[0])


def post_request(worker: Any, _request: Any, _environ: Any, _response: Any) -> None:
    """Have the parent start or end a process: the oldest one, once it has answered its requests."""
    if (share := worker.busy.share()) is not None and share > BUSY[1]:
        os.kill(worker.ppid, signal.SIGTTIN)
    if (share := worker.calm.share()) is not None and share < CALM[1]:
        os.kill(worker.ppid, signal.SIGTTOU)


def nworkers_changed(server: Any, processes: int, _before: int | None) -> None:
    most = max(server.cfg.workers, MAX_PROCESSES)
    if processes > most:
        server.num_workers = most
