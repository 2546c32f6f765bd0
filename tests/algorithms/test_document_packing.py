"""A file yields the very document whose name it has, or nothing, and never more than that document's size."""

import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.documents.algorithms.packing import Damaged, hash_in, hash_of, pack, path_of, unpack

KINDS = st.sampled_from(["text/html", "image/png", ""])


@given(st.binary(max_size=5_000), KINDS)
def test_packing_and_unpacking_returns_the_same(body, kind):
    assert unpack(pack(body, kind), hash_of(body), len(body)) == body


@given(st.binary(max_size=500), KINDS, st.data())
def test_a_changed_file_never_yields_another_document(body, kind, data):
    stored = bytearray(pack(body, kind))
    stored[data.draw(st.integers(0, len(stored) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(Damaged):
        assert unpack(bytes(stored), hash_of(body), len(body)) == body  # not every bit of gzip's frame has a meaning


@given(st.binary(max_size=500), KINDS, st.data())
def test_a_file_that_is_cut_is_damaged(body, kind, data):
    stored = pack(body, kind)
    with pytest.raises(Damaged):
        unpack(stored[: data.draw(st.integers(0, len(stored) - 9))], hash_of(body), len(body))


@pytest.mark.parametrize("other", [b"", b"mews", b"news and more"])
def test_the_file_of_another_document_is_damaged(other):
    with pytest.raises(Damaged, match="its file"):
        unpack(pack(other, "text/plain"), hash_of(b"news"), 4)


def test_a_bomb_is_not_unpacked_beyond_the_size_of_its_document():
    bomb = zlib.compress(bytes(50_000_000), wbits=31)
    tracemalloc.start()
    try:
        with pytest.raises(Damaged, match="does not hold 1,000 bytes"):
            unpack(bomb, hash_of(b""), 1_000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_text_becomes_small_and_pictures_are_not_worked_on_twice():
    text = b"<p>The same words again.</p>" * 1_000
    assert len(pack(text, "text/html")) < len(text) / 50
    assert len(text) < len(pack(text, "image/png")) < len(text) + 50


@given(st.binary(max_size=50))
def test_a_name_leads_back_to_its_hash(body):
    digest = hash_of(body)
    first, second, name = path_of(digest).split("/")
    assert hash_in(name) == digest
    assert name.startswith(first + second)


@pytest.mark.parametrize("name", ["", "README", "ab.gz", "g" * 64 + ".gz", "0" * 64, "0" * 64 + ".gz_x7", "0" * 63])
def test_other_names_are_no_hashes(name):
    assert hash_in(name) is None
