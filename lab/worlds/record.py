"""The record file of a replay: JSON lines, appended and handed to the system at once, so that kill -9 loses none."""

import os
from collections.abc import Iterator
from pathlib import Path

from lab.evaluations.replays.summary import Summary
from lab.evaluations.replays.summary import summarise as summarise_lines
from lab.worlds.lines import Line, Published, RecordError, Start, decode, encode

MAX_LINE = 1_000_000  # bytes


class RecordFile:
    """Appends lines to a record; each is written in one system call without a buffer in between."""

    def __init__(self, path: Path) -> None:
        _cut_half_line(path)
        self._file = path.open("ab", buffering=0)

    def __call__(self, line: Line) -> None:
        self._file.write(encode(line))

    def close(self) -> None:
        self._file.close()


def read_record(path: Path) -> Iterator[Line]:
    """The lines of a record, without a last one that is still being written.

    Raises RecordError naming the line that is none.
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decode(line)
            except RecordError as error:
                raise RecordError(f"{path}, line {number}: {error}") from None


def read_beginning(path: Path) -> tuple[Start, int] | None:
    """How a replay began and how many postings it had published, or None if there is no record yet.

    Raises RecordError if the file is something else.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    lines = read_record(path)
    start = next(lines, None)
    if not isinstance(start, Start):
        raise RecordError(f"{path}: does not begin with a start line; is it a record?")
    return start, sum(isinstance(line, Published) for line in lines)


def summarise(path: Path) -> Summary:
    """Summarize the behaviour of the client: requests, gaps, conditions."""
    return summarise_lines(read_record(path))


def _cut_half_line(path: Path) -> None:
    """Remove a last line without an end: its writer was killed while the system was copying it."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        tail = min(size, MAX_LINE)
        file.seek(size - tail)
        file.truncate(size - tail + file.read(tail).rfind(b"\n") + 1)
