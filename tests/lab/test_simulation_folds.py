"""What a fold shows of recorded postings."""

import numpy as np
import pytest

from apps.retrieval.algorithms.calendar import WEEK, hours_of
from apps.retrieval.algorithms.traces import Trace
from lab.evaluations.retrieval.folds import cut, day_of

NEW_YEAR = hours_of(1672531200.0)  # 2023-01-01, a Sunday


def daily(weeks):
    return NEW_YEAR + 0.5 + np.arange(weeks * 7) * 24


@pytest.mark.parametrize(("week", "start", "end"), [(8, "2023-02-26", "2023-04-09"), (18, "2023-05-07", "2023-06-18")])
def test_folds_begin_so_many_weeks_after_the_first_sunday(week, start, end):
    fold = cut(Trace.of(["a"], [daily(40)]), week)
    assert (fold.name, str(day_of(fold.start)), str(day_of(fold.end))) == (f"w{week}", start, end)
    assert (fold.learning.times.size, fold.test.times.size) == (14, 42)
    assert fold.trace.times.size == 98


def test_the_year_has_the_majority_of_postings_and_its_first_week_may_begin_in_the_year_before():
    year_2025 = hours_of(1735689600.0)  # a Wednesday
    trace = Trace.of(["a"], [[NEW_YEAR, *(year_2025 + 0.5 + np.arange(100) * 24)]])
    assert str(day_of(cut(trace, 4).start)) == "2025-01-26"
    assert str(day_of(cut(trace, 4).start - 4 * WEEK)) == "2024-12-29"


def test_sources_that_are_silent_while_learning_or_stamp_batches_are_left_out():
    start = NEW_YEAR + 8 * WEEK
    usual = daily(15)
    silent = usual[(usual < start - 2 * WEEK) | (usual >= start)]
    batches = np.repeat([start - 100.0, start - 50.0, start - 20.0], 3)
    few = np.repeat(start - 100.0, 7)
    halves = np.repeat(start - np.arange(1.0, 5.0), 2)
    trace = Trace.of(["usual", "silent", "batches", "few", "halves"], [usual, silent, batches, few, halves])
    assert list(cut(trace, 8).trace.names) == ["usual", "few", "halves"]


def test_a_fold_that_the_trace_does_not_cover_is_named():
    with pytest.raises(ValueError, match="fold 10 ends on 2023-04-23, but the trace on 2023-04-1"):
        cut(Trace.of(["a"], [daily(15)]), 10)
    with pytest.raises(ValueError, match="fold 0: no source posts in the 2 weeks before 2023-01-01"):
        cut(Trace.of(["a"], [daily(15)]), 0)
    before_and_after = np.concatenate((daily(8), NEW_YEAR + 14 * WEEK + np.arange(9)))
    with pytest.raises(ValueError, match="fold 8: no source posts from 2023-02-26 to 2023-04-09"):
        cut(Trace.of(["a"], [before_and_after]), 8)
