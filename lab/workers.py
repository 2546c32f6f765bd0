"""Test processes forked from one that has imported all tests.

By itself, pytest-xdist starts interpreters that import everything again, which takes each of them eight seconds of a
processor and 700 MB. Here it starts this module instead, which passes its pipes to a fork and waits for its end.
"""

import gc
import os
import shlex
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

STANDARD = (0, 1, 2)  # input, output, errors


@contextmanager
def running(environment: Mapping[str, str], cwd: Path) -> Iterator[str]:
    """Start the process that imports all tests; yields what `pytest --tx` calls a process forked from it."""
    from portal.launcher import processes  # noqa: PLC0415, not for the processes that only wait

    with TemporaryDirectory() as folder:
        address = os.path.join(folder, "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            command = [sys.executable, "-m", "lab.workers", str(listener.fileno())]
            server = processes.spawn(command, in_our_group=True, env=environment, cwd=cwd, pass_fds=[listener.fileno()])
        try:
            yield f"popen//python={shlex.join([sys.executable, '-IS', os.path.abspath(__file__), address])}"
        finally:
            server.kill()
            server.wait()


def serve(listener: socket.socket) -> list[int]:
    """Fork for every connection; returns, in the fork, the standard files received through it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks are waited for by their connections
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while True:
        connection, _ = listener.accept()
        _, files, _, _ = socket.recv_fds(connection, 1, len(STANDARD))
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            connection.detach()  # open until this process ends
            return files
        connection.close()
        for file in files:
            os.close(file)


def become(files: list[int]) -> None:
    """Do what `python -c` with execnet's first line would do in a new interpreter with these standard files."""
    for ours, theirs in zip(STANDARD, files, strict=True):
        os.dup2(theirs, ours)
        os.close(theirs)
    sys.stdin, sys.stdout = os.fdopen(0, "r", 1, closefd=False), os.fdopen(1, "w", 1, closefd=False)
    sys.argv = ["-c"]
    exec(eval(sys.stdin.readline()), {"__name__": "__main__"})


def wait_for_fork(address: str) -> None:
    """Have a process forked that has our standard files, and wait until it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"\0"], STANDARD)
        for file in STANDARD:
            os.close(file)
        with suppress(ConnectionResetError):
            connection.recv(1)


def import_tests() -> None:
    import pytest  # noqa: PLC0415, not for the processes that only wait

    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider"])  # each process reports errors once more
    try_an_example()
    gc.freeze()  # otherwise garbage collection would touch, and so copy, all of the shared memory


def try_an_example() -> None:
    """Have hypothesis collect the constants of all modules and load its own, as it does before its first example."""
    import hypothesis  # noqa: PLC0415, which pytest wants to import itself

    @hypothesis.settings(max_examples=1, database=None)
    @hypothesis.given(hypothesis.strategies.from_type(bool))
    def nothing(example: bool) -> None:
        pass

    nothing()


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        with socket.socket(fileno=int(sys.argv[1])) as opened:
            import_tests()
            received = serve(opened)
        become(received)
    else:
        wait_for_fork(sys.argv[1])
