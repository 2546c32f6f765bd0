"""Work on documents that may be hostile, in a child process that is ended when it takes too long or too much.

A parser that is busy cannot be interrupted within its own process, and one that eats all memory takes the process
with it. So documents of web pages are read by a child: it gets a function and its arguments, and gives back a result.
"""

import atexit
import os
import pickle
import resource
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any, ParamSpec, TypeVar

CHILDREN = 2  # at most, of each process
SECONDS = 20.0  # what one call may take
START = 30.0  # s; what a new child may take until it is ready
MEMORY = 2 * 2**30  # bytes of address space
CALLS = 2_000  # after which a child is replaced, whatever it has leaked
_HEADER = struct.Struct("!Q")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class TooSlow(ValueError):
    """The work was not done within its time."""


class Crashed(ValueError):
    """The child ended, as it needed too much memory or a library failed."""


class _Child:
    """One child process; used by one thread at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from apps.retrieval.sandbox import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Its libraries would otherwise reserve address space for threads that nobody uses.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.calls = 0
        self._receive(START)

    def call(self, request: bytes, seconds: float) -> Any:
        """Have the request worked on; afterwards the child is as before, unless an error was raised."""
        self.calls += 1
        try:
            _send(self._stdin, request)
        except OSError as error:
            raise Crashed("The process that reads documents has ended.") from error
        return pickle.loads(self._receive(seconds))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stdin.close()
        self._stdout.close()

    def _receive(self, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        size = _HEADER.unpack(self._read(_HEADER.size, deadline, seconds))[0]
        return self._read(size, deadline, seconds)

    def _read(self, size: int, deadline: float, seconds: float) -> bytes:
        parts: list[bytes] = []
        while size:
            ready, _, _ = select.select([self._stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TooSlow(f"Reading the document took longer than {seconds:g} s.")
            part = os.read(self._stdout.fileno(), min(size, 2**20))
            if not part:
                raise Crashed("Reading the document needed too much memory, or broke the program that reads it.")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


_places = threading.BoundedSemaphore(CHILDREN)
_lock = threading.Lock()
_idle: list[_Child] = []


def run(function: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
    """Call a function of some module in a child process; its arguments and its result must be picklable.

    Raises
    ------
    TooSlow, Crashed
        If the child had to be ended; the next call gets a new one.
    Exception
        Whatever the function itself raised.
    """
    request = pickle.dumps((function, arguments, named), protocol=pickle.HIGHEST_PROTOCOL)
    with _places:
        with _lock:
            child = _idle.pop() if _idle else None
        child = child or _Child()
        try:
            succeeded, value = child.call(request, SECONDS)
        except BaseException:
            child.end()
            raise
        if child.calls >= CALLS:
            child.end()
        else:
            with _lock:
                _idle.append(child)
    if not succeeded:
        raise value
    return value


def stop() -> None:
    """End the children that have nothing to do."""
    with _lock:
        while _idle:
            _idle.pop().end()


atexit.register(stop)


def _send(stream: IO[bytes], content: bytes) -> None:
    stream.write(_HEADER.pack(len(content)))
    stream.write(content)
    stream.flush()


def serve() -> None:
    """What the child does, until its parent is gone."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _send(answers, b"ready")
    while header := sys.stdin.buffer.read(_HEADER.size):
        request = sys.stdin.buffer.read(_HEADER.unpack(header)[0])
        _send(answers, _answer(request))


def _answer(request: bytes) -> bytes:
    try:
        function, arguments, named = pickle.loads(request)
        return pickle.dumps((True, function(*arguments, **named)), protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps((False, Crashed("Reading the document needs too much memory.")))
    except Exception as error:
        try:
            return pickle.dumps((False, error))
        except Exception:  # some errors hold what cannot be sent
            return pickle.dumps((False, ValueError(f"{type(error).__name__}: {error}")))
