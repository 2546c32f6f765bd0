"""The output of a running portal: few lines on the terminal, the output of programs in files below ``var/log``."""

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from portal.launcher.processes import Process

MAX_LOG_BYTES = 10 * 2**20  # bytes; then it becomes name.log.1, name.log.2
KEPT_LOGS = 2
MAX_LINE_BYTES = 2**16  # bytes
LATEST = 12  # lines, shown when a program fails

FILE_MODE, FOLDER_MODE = 0o640, 0o750  # regardless of the umask: lines name users, addresses and hosts

QUIET, NORMAL, VERBOSE = range(3)
STEP = "  "  # begins a progress line of a relayed program


class PrivateLog(RotatingFileHandler):
    """A log that other users of this machine cannot read."""

    def _open(self) -> TextIOWrapper:
        # Created with this mode, so that it is never readable by others; an existing file gets the mode now.
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        os.fchmod(descriptor, FILE_MODE)
        return TextIOWrapper(open(descriptor, "ab"), encoding=self.encoding, errors=self.errors)


class Console:
    """Lines for the terminal, and a log file of each program."""

    def __init__(self, logs: Path, verbosity: int = NORMAL) -> None:
        self._logs = logs
        self._verbosity = verbosity
        self._latest: dict[str, deque[str]] = {}
        self._lines: dict[str, int] = {}
        self._threads: dict[str, threading.Thread] = {}

    def say(self, text: str) -> None:
        if self._verbosity > QUIET:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Print text that is shown with --quiet, too."""
        try:
            print(text, flush=True)
        except (OSError, ValueError):  # the terminal was closed, which must not prevent an orderly stop
            _forget_terminal()

    def follow(self, name: str, process: Process) -> None:
        """Write the output of the process to its log until it ends."""
        self.forget(name)
        self._logs.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self._logs.chmod(FOLDER_MODE)
        self._latest[name] = deque(maxlen=LATEST)
        self._lines[name] = 0
        for earlier in self._logs.glob(f"{name}.log.*"):
            earlier.chmod(FILE_MODE)
        log = PrivateLog(self._log_of(name), maxBytes=MAX_LOG_BYTES, backupCount=KEPT_LOGS, encoding="utf-8")
        thread = threading.Thread(target=self._copy, args=(name, process, log), name=f"log of {name}", daemon=True)
        self._threads[name] = thread
        thread.start()

    def lines(self, name: str) -> int:
        """The number of lines that the program has written since its start."""
        return self._lines.get(name, 0)

    def relay(self, name: str, process: Process) -> None:
        """Print the standard output of a program that runs to its end; none of it is logged."""
        self._lines[name] = 0
        self._threads[name] = threading.Thread(target=self._print_all, args=(name, process), daemon=True)
        self._threads[name].start()

    def forget(self, name: str) -> None:
        """Wait for the last lines of a program that has ended."""
        if thread := self._threads.pop(name, None):
            thread.join(1.0)  # s; a descendant may hold its output open

    def show_latest(self, name: str) -> None:
        """Show the last lines of a program that failed, and where the others are."""
        self.forget(name)
        for line in self._latest.get(name, ()):
            self.warn(f"    {name} | {line}")
        self.warn(f"    all of it is in {self._log_of(name)}")

    def _read(self, name: str, process: Process) -> Iterator[str]:
        assert process.stdout is not None
        with process.stdout as stream:
            while piece := stream.readline(MAX_LINE_BYTES):
                self._lines[name] += 1
                yield piece.decode(errors="replace").rstrip()

    def _copy(self, name: str, process: Process, log: logging.Handler) -> None:
        latest = self._latest[name]
        with closing(log):
            for line in self._read(name, process):
                latest.append(line)
                log.emit(logging.makeLogRecord({"msg": line}))
                if self._verbosity >= VERBOSE:
                    self.warn(f"{name:8} | {line}")

    def _print_all(self, name: str, process: Process) -> None:
        for line in self._read(name, process):
            (self.say if line.startswith(STEP) else self.warn)(line)

    def _log_of(self, name: str) -> Path:
        return self._logs / f"{name}.log"


def _forget_terminal() -> None:
    """Discard all further output: the rest of the buffer would fail again at the exit."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
