"""Content codings in any pieces, and never beyond the limit."""

import gzip
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.http.decoding import Decoder, TooLarge, Undecodable


def encode(coding: str, body: bytes) -> bytes:
    if coding == "gzip":
        half = len(body) // 2
        return gzip.compress(body[:half]) + gzip.compress(body[half:])
    if coding == "raw deflate":
        return zlib.compress(body, wbits=-15)
    return {"deflate": zlib.compress, "br": brotli.compress, "": bytes}[coding](body)


def decode(coding: str, data: bytes, limit: int, step: int) -> bytes:
    decoder = Decoder("deflate" if coding == "raw deflate" else coding, limit=limit)
    for start in range(0, len(data), step):
        decoder.feed(data[start : start + step])
    return decoder.finish()


codings = st.sampled_from(["gzip", "deflate", "raw deflate", "br", ""])


@given(codings, st.binary(max_size=2_000), st.integers(1, 50))
def test_any_body_comes_back_from_any_pieces(coding, body, step):
    assert decode(coding, encode(coding, body), len(body), step) == body


@given(codings, st.binary(min_size=1, max_size=2_000), st.integers(1, 50))
def test_a_limit_one_byte_short_is_kept(coding, body, step):
    with pytest.raises(TooLarge, match=f"larger than {len(body) - 1:,} bytes"):
        decode(coding, encode(coding, body), len(body) - 1, step)


@given(st.sampled_from(["gzip", "deflate", "br"]), st.binary(min_size=1, max_size=500), st.data())
def test_a_body_that_breaks_off_is_noticed(coding, body, data):
    encoded = gzip.compress(body) if coding == "gzip" else encode(coding, body)
    end = data.draw(st.integers(1, len(encoded) - 1))
    with pytest.raises(Undecodable, match="is incomplete"):
        decode(coding, encoded[:end], 1_000, 7)


@given(codings, st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_are_decoded_or_refused(coding, data, step):
    try:
        assert len(decode(coding, data, 1_000, step)) <= 1_000
    except (TooLarge, Undecodable) as error:
        assert str(error).startswith(("The response", "The gzip", "The deflate", "The brotli", "The zstd", "The br"))  # noqa: PT017, either way is right


@pytest.mark.parametrize("rest", [b"\0\0\0\0", b"\x1f", b"padding"])
def test_bytes_after_the_last_gzip_member_are_ignored(rest):
    assert decode("gzip", gzip.compress(b"news") + rest, 100, 5) == b"news"


def test_endless_empty_gzip_members_are_refused():
    with pytest.raises(Undecodable, match="1,000 gzip members"):
        Decoder("gzip", limit=100).feed(gzip.compress(b"") * 1_001)


@pytest.mark.parametrize("coding", ["zstd", "compress", "gzip, br", "gzip;q=1"])
def test_an_unrequested_coding_is_named(coding):
    with pytest.raises(Undecodable, match=coding):
        Decoder(coding, limit=100)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity", ", ", "identity, gzip"])
def test_no_bytes_are_an_empty_body_in_every_coding(coding):
    assert Decoder(coding, limit=0).finish() == b""


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_bomb_takes_no_more_memory_than_its_limit(coding):
    bomb = brotli.compress(bytes(20_000_000), quality=1) if coding == "br" else encode(coding, bytes(20_000_000))
    tracemalloc.start()
    with pytest.raises(TooLarge):
        decode(coding, bomb, 100_000, 65_536)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000
