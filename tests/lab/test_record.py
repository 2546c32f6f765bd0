"""Replay: the record file outlives its writer."""

import lzma
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lab.worlds.lines import Published, RecordError, Start
from lab.worlds.loading import Wanted, load
from lab.worlds.record import RecordFile, read_beginning, read_record, summarise
from lab.worlds.trace import TraceError

START = Start(origin=0.0, end=10.0, start=5.0, speed=2.0, port=8700, setup={"seed": 1})


def published(posting):
    return Published(float(posting), 1, posting, "g", "l")


def test_a_line_is_on_disk_as_soon_as_it_is_written(tmp_path):
    path = tmp_path / "record"
    record = RecordFile(path)
    record(START)
    record(published(0))
    assert list(read_record(path)) == [START, published(0)]
    record.close()


@pytest.mark.parametrize("half", [b"", b"{", b'{"line": "published", "at": 1'])
def test_a_record_is_continued_behind_its_last_whole_line(tmp_path, half):
    path = tmp_path / "record"
    first = RecordFile(path)
    first(START)
    first(published(0))
    first.close()
    with path.open("ab") as file:
        file.write(half)
    assert read_beginning(path) == (START, 1)
    second = RecordFile(path)
    second(published(1))
    second.close()
    assert list(read_record(path)) == [START, published(0), published(1)]
    assert summarise(path).published == 2


def test_an_invalid_record_is_refused_and_named(tmp_path):
    path = tmp_path / "notes"
    assert read_beginning(path) is None
    path.write_text("hello\n")
    with pytest.raises(RecordError, match=r"notes, line 1"):
        read_beginning(path)


def wanted(items: Path, sources: Path, **values):
    given = {"synthetic": 0, "good": False, "begin": None, "days": 1.0, "history_days": 1.0, "seed": 1}
    return Wanted(items=items, sources=sources, **{**given, **values})


@pytest.mark.parametrize("packed", [True, False])
def test_a_recording_is_read_packed_or_not(tmp_path, packed):
    items, sources = tmp_path / ("items.jsonl.xz" if packed else "items.jsonl"), tmp_path / "sources.csv"
    sources.write_text("src,url,first,lang,good\n1,http://one.example/feed,1970-01-02T05:00:00+00:00,en,1\n")
    with (lzma.open if packed else open)(items, "wt") as file:
        file.write('{"src": 1, "t": 100000, "title": "ü", "desc": ""}\n{"src": 1, "t": 200000, "title": "later"}\n')
    loaded = load(wanted(items, sources), lambda lines: lines)
    assert (loaded.origin, loaded.end) == (86400.0, 2 * 86400.0)
    assert [text.title for text in loaded.feeds[0].texts] == ["ü"]


def test_a_broken_recording_is_named(tmp_path):
    items, sources = tmp_path / "items.jsonl.xz", tmp_path / "sources.csv"
    sources.write_text("src,url,first,lang,good\n1,http://one.example/feed,1970-01-02T05:00:00+00:00,en,0\n")
    items.write_bytes(b"no archive")
    with pytest.raises(TraceError, match=r"items\.jsonl\.xz"):
        load(wanted(items, sources), lambda lines: lines)
    with pytest.raises(TraceError, match="no source"):
        load(wanted(items, sources, good=True), lambda lines: lines)


def test_made_up_feeds_have_a_history(tmp_path):
    begin = datetime(2024, 5, 1, tzinfo=UTC)
    loaded = load(wanted(None, None, synthetic=20, begin=begin, history_days=2.0), lambda lines: lines)
    assert min(feed.times[0] for feed in loaded.feeds if feed.times) < loaded.origin == begin.timestamp()
