"""Settings of gunicorn: one web process, and a second one once that has been busy.

Threads of a process wait for its interpreter, and each process takes about 10 MB when it rests.
"""

import math
import os
import signal
import time
from typing import Any

from apps.database import machine

MAX_PROCESSES = 1 if machine.is_small() else 2  # unless --workers says more
WINDOW = 2.0  # seconds in which the work of a process is measured
BUSY = 0.5  # share of a core in a window above which one process is not enough


def post_fork(_server: Any, worker: Any) -> None:
    worker.window = (time.monotonic(), time.process_time())  # in one value, as threads share it


def post_request(worker: Any, _request: Any, _environ: Any, _response: Any) -> None:
    """Have the parent start a process. None is ended for being idle: it could be sending a long response slowly."""
    now, used = time.monotonic(), time.process_time()
    begin, used_before = worker.window
    if now > begin + WINDOW:
        is_busy = used - used_before > BUSY * (now - begin)
        worker.window = (math.inf if is_busy else now, used)  # signals once
        if is_busy:
            os.kill(worker.ppid, signal.SIGTTIN)


def nworkers_changed(server: Any, processes: int, _before: int | None) -> None:
    most = max(server.cfg.workers, MAX_PROCESSES)
    if processes > most:
        server.num_workers = most
