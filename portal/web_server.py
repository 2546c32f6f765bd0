"""Gunicorn's settings for `manage.py up`: a second process serves pages while there are several requests at once."""

import os
import signal
from time import monotonic

import psutil
from gunicorn.workers.gthread import ThreadWorker

from apps.database import machine

preload_app = True
workers = 1  # at first
threads = 16
graceful_timeout = 5  # s
keepalive = 0  # a kept connection stays with its process, however busy that is
control_socket_disable = True
logger_class = "portal.logs.WebLog"
worker_class = "portal.web_server.Worker"

MOST_PROCESSES = 1 if machine.is_small() else 2
SEVERAL = 3  # requests at once, for which one process is not enough
CALM = 300.0  # s without so many, after which one process suffices
ASK_SECONDS = 1.0  # between two checks


class Worker(ThreadWorker):
    """A process that serves pages; one of them takes 20 MB less than two."""

    def init_process(self) -> None:
        self._busy_at = monotonic()
        super().init_process()

    def notify(self) -> None:
        """Called in each turn of the worker's loop, and once a second while it waits."""
        super().notify()
        calm = monotonic() - self._busy_at
        if self.nr_conns >= SEVERAL and calm > ASK_SECONDS:
            self._busy_at = monotonic()
            if self._processes() < MOST_PROCESSES:
                os.kill(self.ppid, signal.SIGTTIN)
        elif calm > CALM:
            self._busy_at = monotonic()
            if self._processes() > 1:
                os.kill(self.ppid, signal.SIGTTOU)

    def _processes(self) -> int:
        return len(psutil.Process(self.ppid).children())
