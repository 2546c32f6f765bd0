"""Files of recorded postings, each a source and a time."""

import csv
import gzip
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from apps.retrieval.algorithms.calendar import hours_of
from apps.retrieval.algorithms.traces import Trace


def read_trace(path: Path, *, good_only: bool = False) -> Trace:
    """Read `src,epoch` lines (seconds since 1970, UTC), plain or packed by gzip.

    `good_only` keeps the sources with good = 1 in the sources.csv beside the file, which has the columns `src`, `good`.

    Raises
    ------
    ValueError
        If a file cannot be read or a line is not as expected; names the file and the line.
    """
    good = _good_sources(path.with_name("sources.csv")) if good_only else None
    postings: dict[str, list[float]] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") if _is_packed(path) else path.open(encoding="utf-8") as lines:
            for number, (source, epoch) in enumerate(_rows(lines, path), start=2):
                if good is None or source in good:
                    postings.setdefault(source, []).append(_number(epoch, path, number))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not postings:
        raise ValueError(f"{path} holds no posting" + (" of a source that sources.csv calls good" if good else ""))
    return Trace.of(list(postings), [hours_of(np.array(times)) for times in postings.values()])


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _rows(lines: Iterable[str], path: Path) -> Iterable[tuple[str, str]]:
    rows = csv.reader(lines)
    header = next(rows, [])
    if header != ["src", "epoch"]:
        raise ValueError(f"{path}, line 1: expected the columns src,epoch, not {','.join(header) or 'nothing'}")
    for number, row in enumerate(rows, start=2):
        if len(row) != 2:
            raise ValueError(f"{path}, line {number}: expected src,epoch, not {','.join(row) or 'nothing'}")
        yield row[0], row[1]


def _number(epoch: str, path: Path, line: int) -> float:
    try:
        seconds = float(epoch)
    except ValueError:
        seconds = math.nan
    if not abs(seconds) < 1e11:  # beyond the year 5000 it is another unit
        raise ValueError(f"{path}, line {line}: {epoch!r} is no time in seconds")
    return seconds


def _good_sources(path: Path) -> set[str]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines)
            for column in ("src", "good"):
                if column not in (rows.fieldnames or ()):
                    raise ValueError(f"{path} has no column {column}")
            return {row["src"] for row in rows if row["good"] == "1"}
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
