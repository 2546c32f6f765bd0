"""Recorded postings cut into folds: weeks to learn from, and weeks to test on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import DAY, WEEK, epoch_of, hours_of
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.simulation.comparison import LEARNING_WEEKS, Fold
from apps.retrieval.algorithms.traces import Trace

TEST_WEEKS = 6
HISTORY_WEEKS = 8
BATCH = 8  # postings in the learning weeks, from which on a source must give most of them a time of its own


@dataclass(frozen=True)
class NamedFold(Fold):
    """A fold with a name and, where its postings were generated from some, the true mean rates of its sources."""

    name: str = field(kw_only=True)
    profiles: Sequence[Profile] = field(default=(), kw_only=True)


def cut(trace: Trace, week: int) -> NamedFold:
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
    return NamedFold(selected, start, end, name=f"w{week}")


def day_of(hours: float) -> date:
    """The date of a time on the axis of `calendar`."""
    return datetime.fromtimestamp(epoch_of(float(hours)), UTC).date()


def _stamps_batches(times: NDArray[np.float64]) -> bool:
    return times.size >= BATCH and np.unique(times).size < times.size / 2
