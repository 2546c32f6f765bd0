"""Recorded postings, cut into weeks to learn from and weeks to be tested on."""

import csv
import gzip
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import DAY, WEEK, epoch_of, hours_of
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.traces import Trace

FloatArray = NDArray[np.float64]

TEST_WEEKS = 6
LEARNING_WEEKS = 2
HISTORY_WEEKS = 8
BATCH = 8  # postings in the learning weeks, from which on a source must give most of them a time of its own


@dataclass(frozen=True)
class Fold:
    """A stretch of test, [start, end), and what was known before it.

    Parameters
    ----------
    name : str
    trace : Trace
        The postings of the history and of the test.
    start, end : float
        Hours on the axis of `calendar`.
    profiles : sequence of Profile, one per source, or empty
        The true mean rates, where the postings were generated from some.
    """

    name: str
    trace: Trace
    start: float
    end: float
    profiles: Sequence[Profile] = ()

    @cached_property
    def learning(self) -> Trace:
        """The postings of the two weeks before the test."""
        return self.trace.window(self.start - LEARNING_WEEKS * WEEK, self.start)

    @cached_property
    def history(self) -> Trace:
        """All postings before the test, of at most eight weeks."""
        return self.trace.window(self.start - HISTORY_WEEKS * WEEK, self.start)

    @cached_property
    def test(self) -> Trace:
        return self.trace.window(self.start, self.end)

    @property
    def days(self) -> float:
        return (self.end - self.start) / DAY


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


def cut(trace: Trace, week: int) -> Fold:
    """The fold `w<week>`: six weeks of test, which begin `week` weeks after the Sunday on or before January 1st.

    The year is the one in which most postings fall. The sources are those that post in the two weeks before the test,
    without those that stamp whole batches with one time.

    Raises
    ------
    ValueError
        If the trace does not cover the fold.

    Examples
    --------
    >>> trace = Trace.of(["a"], [hours_of(1672531200 + 86400.0 * np.arange(300))])  # daily from 2023-01-01 on
    >>> fold = cut(trace, 8)
    >>> fold.name, str(day_of(fold.start)), str(day_of(fold.end)), fold.learning.counts.tolist()
    ('w8', '2023-02-26', '2023-04-09', [14])
    """
    years = (epoch_of(trace.times).astype("datetime64[s]")).astype("datetime64[Y]").astype(np.int64) + 1970
    new_year = hours_of(datetime(int(np.bincount(years).argmax()), 1, 1, tzinfo=UTC).timestamp())
    start = math.floor(new_year / WEEK) * WEEK + week * WEEK
    end = start + TEST_WEEKS * WEEK
    if trace.times.max() < end - DAY:
        raise ValueError(f"fold {week} ends on {day_of(end)}, but the trace on {day_of(trace.times.max())}")
    learning = trace.window(start - LEARNING_WEEKS * WEEK, start)
    chosen = [number for number, times in enumerate(learning.parts) if times.size and not _stamps_batches(times)]
    if not chosen:
        raise ValueError(f"fold {week}: no source posts in the {LEARNING_WEEKS} weeks before {day_of(start)}")
    selected = trace.window(start - HISTORY_WEEKS * WEEK, end).select(chosen)
    if not selected.window(start, end).times.size:
        raise ValueError(f"fold {week}: no source posts from {day_of(start)} to {day_of(end)}")
    return Fold(f"w{week}", selected, start, end)


def day_of(hours: float) -> date:
    """The date of an instant on the axis of `calendar`."""
    return datetime.fromtimestamp(epoch_of(float(hours)), UTC).date()


def _stamps_batches(times: FloatArray) -> bool:
    return times.size >= BATCH and np.unique(times).size < times.size / 2


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
