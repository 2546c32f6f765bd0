"""Reading recorded postings, and what a fold shows of them."""

import gzip

import numpy as np
import pytest

from apps.retrieval.algorithms.calendar import WEEK, hours_of
from apps.retrieval.algorithms.simulation.folds import cut, day_of, read_trace
from apps.retrieval.algorithms.traces import Trace

NEW_YEAR = hours_of(1672531200.0)  # 2023-01-01, a Sunday


def written(folder, text, name="postings.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["postings.csv", "postings.csv.gz"])
def test_postings_are_read_per_source_in_order_of_time(tmp_path, name):
    trace = read_trace(written(tmp_path, "src,epoch\nb,1672534800\na,1672531200.5\nb,1672531200\n", name))
    assert list(trace.names) == ["b", "a"]
    hours = [(part - NEW_YEAR).round(9).tolist() for part in trace.parts]
    assert hours == [[0.0, 1.0], [round(0.5 / 3600, 9)]]


def test_only_good_sources_are_read_on_wish(tmp_path):
    postings = written(tmp_path, "src,epoch\na,1\nb,2\nc,3\n")
    written(tmp_path, "src,url,good\na,x,1\nb,y,0\n", "sources.csv")
    assert list(read_trace(postings).names) == ["a", "b", "c"]
    assert list(read_trace(postings, good_only=True).names) == ["a"]


def test_a_list_of_sources_that_does_not_judge_them_is_named(tmp_path):
    written(tmp_path, "src,url\na,x\n", "sources.csv")
    with pytest.raises(ValueError, match=r"sources\.csv has no column good"):
        read_trace(written(tmp_path, "src,epoch\na,1\nb,2\n"), good_only=True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1: expected the columns src,epoch, not nothing"),
        ("source,time\n", "line 1: expected the columns src,epoch, not source,time"),
        ("src,epoch\na,1\na\n", "line 3: expected src,epoch, not a"),
        ("src,epoch\na,1,2\n", "line 2: expected src,epoch, not a,1,2"),
        ("src,epoch\na,1\n\na,2\n", "line 3: expected src,epoch, not nothing"),
        ("src,epoch\na,yesterday\n", "line 2: 'yesterday' is no time in seconds"),
        ("src,epoch\na,nan\n", "line 2: 'nan' is no time in seconds"),
        ("src,epoch\na,1672531200000\n", "line 2: '1672531200000' is no time in seconds"),
        ("src,epoch\n", "holds no posting"),
    ],
)
def test_a_complaint_names_the_file_and_the_line(tmp_path, text, complaint):
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=complaint) as raised:
        read_trace(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize(
    "content",
    [b"\x1f\x8bnonsense", gzip.compress(b"src,epoch\n" + b"a,1\n" * 99)[:-6], b"src,\xff\n"],
    ids=["no gzip", "cut off", "no text"],
)
def test_a_broken_file_is_named(tmp_path, content):
    path = tmp_path / "postings.csv.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read") as raised:
        read_trace(path)
    assert str(path) in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"missing\.csv cannot be read"):
        read_trace(tmp_path / "missing.csv")


def daily(weeks):
    return NEW_YEAR + 0.5 + np.arange(weeks * 7) * 24


@pytest.mark.parametrize(("week", "start", "end"), [(8, "2023-02-26", "2023-04-09"), (18, "2023-05-07", "2023-06-18")])
def test_folds_begin_so_many_weeks_after_the_first_sunday(week, start, end):
    fold = cut(Trace.of(["a"], [daily(40)]), week)
    assert (fold.name, str(day_of(fold.start)), str(day_of(fold.end))) == (f"w{week}", start, end)
    assert (fold.learning.times.size, fold.history.times.size, fold.test.times.size) == (14, 56, 42)
    assert fold.trace.times.size == 98


def test_the_year_is_that_of_most_postings_and_its_first_week_may_begin_in_the_year_before():
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
