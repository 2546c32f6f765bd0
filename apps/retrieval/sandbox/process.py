"""The parent's end of a child process. Nothing that comes from it is trusted."""

import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from apps.retrieval.sandbox.answers import Malformed, decode
from apps.retrieval.sandbox.child import ERROR, ERRORS, HEADER, RESULT
from apps.retrieval.sandbox.confinement import CPU_SECONDS

START_SECONDS = 30.0
IDLE_SECONDS = 1.5  # s without a response and without CPU time
MAX_ANSWER = 32 * 2**20  # bytes
MAX_CALLS = 2_000  # after which a child is replaced, in case it leaks memory
_CHECK_SECONDS = 0.25  # between two checks of the child's activity
_KEPT_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONHOME", "TZ")
_TICKS = os.sysconf("SC_CLK_TCK")  # per second


class TooSlow(ValueError):
    """The call exceeded its time limit."""


class Crashed(ValueError):
    """The child ended or was ended: it needed too much memory, a library failed, or its response is invalid."""


class Child:
    """One child process; used by one thread at a time."""

    def __init__(self, *loaded: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", "from apps.retrieval.sandbox.child import serve; serve()", *loaded],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            cwd="/",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._calls = 0
        self.ending: threading.Timer  # while it has nothing to do
        try:
            self.measures: list[str] = _value(self._exchange(b"", START_SECONDS), list[str])
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, request: bytes, kind: Any, seconds: float) -> Any:
        """Send a request and return its result.

        Raises NotAFeed and ValueError as the function does, and TooSlow or Crashed, after which the child must be
        ended.
        """
        self._calls += 1
        return _value(self._exchange(HEADER.pack(len(request)) + request, seconds), kind)

    @property
    def is_used_up(self) -> bool:
        used = _activity(self.pid)
        return self._calls >= MAX_CALLS or (used is not None and used[1] / _TICKS > CPU_SECONDS / 2)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _exchange(self, request: bytes, seconds: float) -> bytes:
        """Write the request and read one answer. A child that stops to read or to write is noticed by its idleness."""
        watch = _Watch(self.pid, seconds)
        unsent, header, body, missing = memoryview(request), b"", [], -1
        while missing:
            readable, writable, _ = select.select(
                [self._stdout], [self._stdin] if unsent else [], [], watch.seconds_to_next_check
            )
            if not readable and not writable:
                watch.check()
                continue
            watch.check_deadline()
            if writable:
                unsent = unsent[self._write(unsent) :]
            if readable and missing < 0:
                header += self._read(HEADER.size - len(header))
                if len(header) == HEADER.size:
                    missing = _accepted_size(header)
            elif readable:
                body.append(self._read(missing))
                missing -= len(body[-1])
            if readable:
                watch.note_answer()
        if unsent:
            raise Crashed("The process that reads documents answered before it had the document.")
        return b"".join(body)

    def _write(self, content: memoryview) -> int:
        try:
            return os.write(self._stdin.fileno(), content)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise Crashed("The process that reads documents has ended.") from error

    def _read(self, size: int) -> bytes:
        part = os.read(self._stdout.fileno(), min(size, 2**20))
        if not part:
            raise Crashed("Reading the document needed too much memory, or crashed the program that reads it.")
        return part


class _Watch:
    """The deadline of a call, and whether the child is working."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        self._deadline = time.monotonic() + seconds
        self._activity = _activity(pid)
        self._busy_at = time.monotonic()
        self._answers = False

    @property
    def seconds_to_next_check(self) -> float:
        return max(0.0, min(_CHECK_SECONDS, self._deadline - time.monotonic()))

    def check_deadline(self) -> None:
        if time.monotonic() >= self._deadline:
            raise TooSlow(f"Reading the document took longer than {self._seconds:g} s.")

    def note_answer(self) -> None:
        """A part of the response arrived, so the child has computed all of it."""
        self._answers, self._busy_at = True, time.monotonic()

    def check(self) -> None:
        """A confined child waits for nothing but its parent: one that sleeps will never respond."""
        self.check_deadline()
        now, before, self._activity = time.monotonic(), self._activity, _activity(self._pid)
        is_busy = self._activity is None or self._activity != before or self._activity[0] in "RD"
        if is_busy and not self._answers:
            self._busy_at = now
        elif now - self._busy_at >= IDLE_SECONDS:
            raise Crashed("The process that reads documents stopped working.")


def _activity(pid: int) -> tuple[str, int] | None:
    """The state of a process and its processor time in ticks; None without /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[11]) + int(fields[12])


def _environment() -> dict[str, str]:
    """The module path and what Python itself may need, but no secrets of the parent."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    # OpenBLAS reserves address space for unused threads, and a process with threads cannot enter a namespace.
    return kept | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}


def _accepted_size(header: bytes) -> int:
    size = int(HEADER.unpack(header)[0])
    if not 0 < size <= MAX_ANSWER:
        raise Crashed(f"The result of reading the document is larger than {MAX_ANSWER // 2**20} MiB, or empty.")
    return size


def _value(answer: bytes, kind: Any) -> Any:
    marker, content = answer[:1], answer[1:]
    try:
        if marker == RESULT:
            return decode(content, kind)
        name, message = decode(content, tuple[str, str])
    except Malformed as error:
        raise Crashed("The process that reads documents gave an invalid response.") from error
    if marker == ERROR and name in ERRORS:
        raise ERRORS[name](message)
    if name == MemoryError.__name__:
        raise Crashed("Reading the document needs too much memory.")
    raise Crashed(f"Reading the document failed: {name}: {message}")
