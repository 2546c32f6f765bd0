"""What a picture is and how large stands in its first bytes; Pillow, which decodes, is the slow twin."""

import struct
import zlib
from io import BytesIO
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from apps.reading.algorithms.picture_kinds import Picture, picture_in

KINDS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}


def painted(kind: str, width: int, height: int, **options: object) -> bytes:
    file = BytesIO()
    picture = Image.new("RGB", (width, height), "teal")
    picture.save(file, kind, **options)
    return file.getvalue()


EXAMPLES = {kind: painted(kind, 33, 21) for kind in KINDS}
lossless = painted("WEBP", 300, 2, lossless=True)
animated = BytesIO()
Image.new("RGB", (70, 50)).save(
    animated, "WEBP", save_all=True, append_images=[Image.new("RGB", (70, 50), "red")], duration=100
)
tall_for_its_exif = painted("JPEG", 40, 30, exif=b"Exif\0\0" + bytes(60_000), progressive=True)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None)
@given(width=st.integers(1, 256), height=st.integers(1, 256))
def test_kind_and_size_are_those_that_a_decoder_finds(kind, width, height):
    body = painted(kind, width, height)
    found = picture_in(body)
    assert found is not None
    assert (found.media_type, found.width, found.height) == (KINDS[kind], *Image.open(BytesIO(body)).size)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lossless, Picture("image/webp", 300, 2)),
        (animated.getvalue(), Picture("image/webp", 70, 50)),
        (tall_for_its_exif, Picture("image/jpeg", 40, 30)),
        (painted("JPEG", 3_000, 2), Picture("image/jpeg", 3_000, 2)),
        (painted("PNG", 2, 4_000), Picture("image/png", 2, 4_000)),
    ],
)
def test_further_forms_of_the_kinds(body, expected):
    assert picture_in(body) == expected


def png(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunks


def test_declared_size_of_a_huge_png_is_measured():
    assert picture_in(png(100_000, 100_000)).pixels == 10**10


def test_a_frame_larger_than_the_screen_of_a_gif_counts():
    tiny = bytearray(painted("GIF", 1, 1))
    frame = tiny.index(b"\x2c\0\0\0\0\x01\0\x01\0")
    tiny[frame + 5 : frame + 9] = b"\xff\xff\xff\xff"
    assert picture_in(bytes(tiny)) == Picture("image/gif", 65_535, 65_535)


@pytest.mark.parametrize("before", [b"\x21\xfe\x05hello\x00", b"\x21\xf9\x04\0\0\0\0\x00\x21\xfe\x01a\x01b\x00"])
def test_extensions_before_the_frame_of_a_gif_are_passed(before):
    whole = b"GIF89a\x01\0\x01\0\0\0\0" + before + b"\x2c\0\0\0\0\x40\x01\x30\0\0"
    assert picture_in(whole) == Picture("image/gif", 320, 48)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><img src=x onerror=alert(1)>",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<?xml version='1.0'?><svg/>",
        b"\xef\xbb\xbf<svg/>",
        b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n<svg onload=alert(1)>",
        b"\xff\xd8\xff<html>",
        b"\xff\xd8\xff\xda" + bytes(100),  # data without a frame before it
        b"RIFF\0\0\0\0WEBPVP8 <script>alert(1)</script>",
        b"BM" + bytes(12) + struct.pack("<Iii", 40, 7, -9),  # a bitmap
        b"\0\0\0\x1cftypavif" + bytes(100),  # an AVIF that does not say how large it is
        b"\0\0\0\x1cftypmp42" + bytes(100),
        png(0, 10),
        b"GIF87a\0\0\0\0\0\0\0",
    ],
)
def test_bytes_without_picture_or_size_are_none(body):
    assert picture_in(body) is None


@given(st.sampled_from(sorted(EXAMPLES)), st.data())
def test_broken_pictures_are_read_without_complaint(kind, data):
    body = bytearray(EXAMPLES[kind][: data.draw(st.integers(0, 200))])
    for _ in range(data.draw(st.integers(0, 4)) if body else 0):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    found = picture_in(bytes(body))
    assert found is None or (found.media_type in KINDS.values() and found.pixels > 0)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xd8" + b"\xff" * 10_000_000,
        b"\xff\xd8\xff\xe0\0\0" * 1_500_000,
        b"GIF89a" + bytes(7) + b"\x21\xfe" + b"\x01a" * 5_000_000,
        b"\0\0\0\x10ftypavif\0\0\0\0\0\0\0\0meta" + b"\0\0\0\x14ispe\0\0\0\0\0\0\0\1\0\0\0\1" * 500_000,
        b"\0\0\1\0\x40\0" + b"\0" * 10_000_000,
    ],
)
def test_the_largest_of_files_is_measured_in_no_time(body):
    began = process_time()
    picture_in(body)
    assert process_time() - began < 0.5
