"""Reading recorded postings."""

import gzip

import pytest

from apps.retrieval.algorithms.calendar import hours_of
from lab.evaluations.retrieval.trace_file import read_trace

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


def test_good_only_reads_good_sources(tmp_path):
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
