"""Inputs that are kept in a folder: those that reached something new, and those with findings."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

CURRENT = "current"  # the input at work: left behind if it ends the process
FAILURES = "failures"


class Corpus:
    """The inputs of one target, each a file named after its content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._current = folder / CURRENT
        (folder / FAILURES).mkdir(parents=True, exist_ok=True)

    def __iter__(self) -> Iterator[bytes]:
        for file in sorted([*self._folder.iterdir(), *(self._folder / FAILURES).iterdir()]):
            if file.is_file():
                yield file.read_bytes()

    def crashed(self) -> Path | None:
        """What an earlier run worked on when its process ended, kept as a failure."""
        if not self._current.exists():
            return None
        return self._current.rename(self.file_of(self._current.read_bytes(), FAILURES))

    def begin(self, content: bytes) -> None:
        self._current.write_bytes(content)

    def end(self) -> None:
        self._current.unlink(missing_ok=True)

    def add(self, content: bytes) -> None:
        self.file_of(content).write_bytes(content)

    def add_failure(self, content: bytes) -> Path:
        file = self.file_of(content, FAILURES)
        file.write_bytes(content)
        return file

    def file_of(self, content: bytes, folder: str = "") -> Path:
        return self._folder / folder / sha256(content).hexdigest()[:20]
