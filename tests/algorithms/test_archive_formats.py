"""Archives are written in pieces, and validated when read."""

import io
import json
import zipfile
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.account_data.formats import container, records
from apps.account_data.formats.container import Container, packed
from apps.account_data.formats.problems import BadArchive

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

names = st.text("abcdefghij", min_size=1, max_size=8)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def opened(archive: bytes) -> Container:
    return Container(io.BytesIO(archive))


@given(st.dictionaries(names, st.lists(st.binary(max_size=200), max_size=5), max_size=5))
def test_packed_members_are_read_back(members):
    archive = b"".join(packed(members.items(), NOON))
    read = opened(archive)
    for name, pieces in members.items():
        assert name in read
        assert read.whole(name) == b"".join(pieces)
    with zipfile.ZipFile(io.BytesIO(archive)) as other:
        assert other.testzip() is None


@given(st.binary(max_size=2_000).map(lambda data: data.replace(b"\x00", b"\n")))
def test_blank_lines_are_skipped(data):
    archive = b"".join(packed([("x", [data])], NOON))
    twin = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    assert list(opened(archive).lines("x")) == twin


def test_lines_may_span_pieces(monkeypatch):
    monkeypatch.setattr(container, "PIECE", 3)
    archive = b"".join(packed([("x", [b"one\n\ntwo\nthree"])], NOON))
    assert list(opened(archive).lines("x")) == [(1, b"one"), (3, b"two"), (4, b"three")]


def test_an_archive_is_sent_while_it_is_written():
    dense = Random(1).randbytes(container.PIECE)
    produced = []
    archive = packed([("x", (produced.append(place) or dense for place in range(9)))], NOON)
    next(archive)
    assert len(produced) <= 2
    assert max(map(len, archive)) < 2 * container.PIECE
    assert len(produced) == 9


@given(st.dictionaries(texts, values, max_size=5))
def test_records_are_read_back(given_values):
    line = records.line_of(given_values)
    assert line.count(b"\n") == 1
    archive = b"".join(packed([("x", [line, line])], NOON))
    assert [record.values for record in records.records(opened(archive), "x")] == [given_values] * 2


@given(values)
def test_a_record_returns_valid_values_or_names_the_invalid_place(value):
    record = records.Record({"a": value}, "x.jsonl", 7)
    readers = [
        lambda: record.text("a", longest=5),
        lambda: record.moment("a"),
        lambda: record.inner("a"),
    ]
    assert all(message is None or message.startswith("x.jsonl, line 7: “a” is ") for message in map(error_of, readers))


def error_of(read) -> str | None:
    try:
        read()
    except BadArchive as problem:
        return str(problem)
    return None


@given(st.binary(max_size=300))
def test_any_bytes_are_an_archive_or_refused(data):
    try:
        found = opened(data)
    except BadArchive:
        return
    assert "x" not in found


@given(st.data())
def test_a_damaged_archive_is_read_or_refused(data):
    archive = bytearray(b"".join(packed([("x", [b"words\n" * 50]), ("y", [b"others"])], NOON)))
    for _ in range(3):
        place = data.draw(st.integers(0, len(archive) - 1))
        archive[place] = data.draw(st.integers(0, 255))
    try:
        found = opened(bytes(archive))
        for name in ("x", "y"):
            list(found.lines(name))
    except BadArchive:
        pass


def test_negative_offsets_are_refused():
    archive = bytearray(b"".join(packed([("x", [b"words"])], NOON)))
    where = int.from_bytes(archive[-6:-2], "little")  # its list claims to be
    archive[-6:-2] = (where + 5).to_bytes(4, "little")
    with pytest.raises(BadArchive):
        list(opened(bytes(archive)).lines("x"))


def test_paths_in_member_names_are_ignored():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as other:
        other.writestr("../../etc/passwd", b"x")
    assert "archive.json" not in Container(archive)


def test_a_document_that_is_no_list_is_refused():
    archive = b"".join(packed([("x.json", [json.dumps({"a": 1}).encode()])], NOON))
    with pytest.raises(BadArchive, match=r"x\.json: It is not a list of objects\."):
        records.record_list(opened(archive), "x.json", most=3)
