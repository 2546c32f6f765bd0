"""What a person sees of a running portal: few calm lines here, what the programs say in files below ``var/log``."""

import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import IO

MAX_LOG_BYTES = 10 * 2**20  # bytes; then it becomes name.log.1, name.log.2
KEPT_LOGS = 2
MAX_LINE_BYTES = 2**16  # bytes
LATEST = 12  # lines, shown when a program fails

FILE_MODE, FOLDER_MODE = 0o640, 0o750  # whatever the umask: lines name people, addresses and hosts

QUIET, NORMAL, VERBOSE = range(3)
STEP = "  "  # begins a line of a relayed program that only says how far it has got


class PrivateLog(RotatingFileHandler):
    """A log that others on this machine cannot read."""

    def _open(self) -> TextIOWrapper:
        # Made with its mode, so that nobody opens it before; one from an earlier version gets the mode now.
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
        """Print what a person may like to know."""
        if self._verbosity > QUIET:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Print what a person should know."""
        try:
            print(text, flush=True)
        except (OSError, ValueError):  # the terminal is gone, and that must not prevent an orderly stop
            _forget_terminal()

    def follow(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Write what the process says to its log, from now until it ends."""
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
        """How many lines the program has written since it was started."""
        return self._lines.get(name, 0)

    def relay(self, process: subprocess.Popen[bytes]) -> "Relay":
        """Print what a program that ends by itself says, and keep its complaints. Nothing of it is logged."""
        return Relay(self, process)

    def forget(self, name: str) -> None:
        """Wait for the last lines of a program that has ended."""
        if thread := self._threads.pop(name, None):
            thread.join(1.0)  # s; something that the program left behind may hold its output open

    def show_latest(self, name: str) -> None:
        """Show the last lines of a program that failed, and where the others are."""
        self.forget(name)
        for line in self._latest.get(name, ()):
            self.warn(f"    {name} | {line}")
        self.warn(f"    all of it is in {self._log_of(name)}")

    def _copy(self, name: str, process: subprocess.Popen[bytes], log: logging.Handler) -> None:
        assert process.stdout is not None
        latest = self._latest[name]
        with process.stdout as stream, closing(log):
            while piece := stream.readline(MAX_LINE_BYTES):
                line = piece.decode(errors="replace").rstrip()
                latest.append(line)
                self._lines[name] += 1
                log.emit(logging.makeLogRecord({"msg": line}))
                if self._verbosity >= VERBOSE:
                    self.warn(f"{name:8} | {line}")

    def _log_of(self, name: str) -> Path:
        return self._logs / f"{name}.log"


class Relay:
    """The output of a program: standard output goes to the console at once, standard error is for the end."""

    def __init__(self, console: Console, process: subprocess.Popen[bytes]) -> None:
        self._console = console
        self._count = 0
        self._complaints: list[str] = []
        self._threads = [
            threading.Thread(target=self._read, args=(stream, use), daemon=True)
            for stream, use in ((process.stdout, self._print), (process.stderr, self._complaints.append))
        ]
        for thread in self._threads:
            thread.start()

    def lines(self) -> int:
        return self._count

    def complaint(self) -> str:
        """What it wrote to standard error until its end."""
        for thread in self._threads:
            thread.join(1.0)  # s; a descendant may hold its output open
        return "\n".join(self._complaints).strip()

    def _read(self, stream: IO[bytes], use: Callable[[str], None]) -> None:
        with stream:
            while piece := stream.readline(MAX_LINE_BYTES):
                use(piece.decode(errors="replace").rstrip())
                self._count += 1

    def _print(self, line: str) -> None:
        (self._console.say if line.startswith(STEP) else self._console.warn)(line)


def _forget_terminal() -> None:
    """Send all further output nowhere; what is left in the buffer would fail once more at the very end."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
