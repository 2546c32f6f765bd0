"""What a document may make the child process do once it has taken it over."""

import os
import pickle
import socket
import subprocess
import time
from pathlib import Path

from apps.retrieval.sandbox.answers import encode
from apps.retrieval.sandbox.child import HEADER, RESULT
from apps.retrieval.sandbox.confinement import MEASURES

ANSWERS = 3  # file descriptor


def load() -> None:
    """Imported by the child before it is confined; nothing else is needed."""


def without_filter() -> None:
    """As on a kernel without seccomp."""
    del MEASURES["seccomp filter"]


def pid() -> int:
    return os.getpid()


def hexadecimal(content: bytes) -> str:
    return content.hex()


def number(text: str) -> int:
    return int(text)


def fail() -> None:
    raise KeyError("title")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def work() -> None:
    while True:
        pass


def end() -> None:
    os._exit(3)


def allocate(size: int) -> int:
    return len(bytes(size))


def open_file() -> str:
    return Path("/etc/hostname").read_text()


def write_file(path: str) -> None:
    Path(path).write_text("here")


def open_socket() -> None:
    socket.socket().close()


def fork() -> int:
    return os.fork()


def execute() -> int:
    return subprocess.run(["/bin/true"], check=False).returncode


def signal_parent() -> None:
    os.kill(os.getppid(), 0)


def environment() -> dict[str, str]:
    return dict(os.environ)


def open_descriptors() -> list[int]:
    return [number for number in range(1_000) if _is_open(number)]


def _is_open(number: int) -> bool:
    try:
        os.lseek(number, 0, os.SEEK_CUR)
    except OSError as error:
        return error.strerror == "Illegal seek"  # of a pipe
    return True


def answer_text() -> int:
    return "text"  # type: ignore[return-value]


def answer_bytes(content: bytes) -> None:
    os.write(ANSWERS, content)
    time.sleep(60)


def answer_in_part_and_work() -> int:
    """Begin an answer and compute forever."""
    os.write(ANSWERS, HEADER.pack(100) + RESULT + b'"be')
    while True:
        pass


def answer_pickle(path: str) -> None:
    content = pickle.dumps(_Touch(path))
    answer_bytes(HEADER.pack(len(content)) + content)


class _Touch:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path(self._path),)


def answer_and_read_no_further() -> int:
    content = RESULT + encode(1)
    answer_bytes(HEADER.pack(len(content)) + content)
    return 1
