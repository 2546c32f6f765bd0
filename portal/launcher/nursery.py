"""Orders processes of `forking`, which has loaded the whole program.

If anything fails there, the supervisor starts the program's command instead.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from portal.launcher import processes, progress
from portal.launcher.processes import Forked

MAX_ORDER = 2**16  # bytes
MAX_FILES = 8  # per order
POLL_SECONDS = 0.002


class Order(NamedTuple):
    """A Python module to run as a program, in a process of its own."""

    name: str
    command: Sequence[str]  # its last parts are "-m", the module and its arguments
    death_signal: int
    files: Sequence[int]  # the numbers under which it expects further descriptors
    parent: int  # the supervisor


class Nursery:
    """The supervisor's side."""

    def __init__(self, environment: Mapping[str, str], directory: Path) -> None:
        self._environment, self._directory = environment, directory
        processes.adopt_orphans()
        self._start()

    def _start(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = processes.spawn(
                [sys.executable, "-m", "portal.launcher.forking", str(theirs.fileno())],
                death_signal=signal.SIGKILL,
                env=self._environment,
                cwd=self._directory,
                pass_fds=[theirs.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def fork(self, order: Order, errors: int | None) -> Forked | None:
        """A process as ordered, its errors in its output by default; None if it cannot be forked."""
        if self._process.poll() is not None:
            self.end()
            self._start()  # for the next order
            return None
        reading, writing = os.pipe()
        with open(reading, "rb") as output, open(writing, "wb"):
            files = [writing, writing if errors is None else errors, *order.files]
            with suppress(OSError):  # the nursery has just ended
                socket.send_fds(self._orders, [json.dumps(order).encode()], files)
                if process := self._answer():
                    return Forked(process, open(os.dup(output.fileno()), "rb"))
        self.end()
        return None

    def _answer(self) -> int:
        """The id of the process; 0 if there is no answer."""
        made = progress.of_process(self._process.pid)
        while not made.has_stalled():
            with suppress(BlockingIOError):
                return int(self._orders.recv(MAX_ORDER, socket.MSG_DONTWAIT) or 0)
            processes.pause(POLL_SECONDS)
        return 0

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._orders.close()
