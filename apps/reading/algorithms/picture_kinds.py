"""The type and size of a picture by its first bytes, never by its declared type.

No picture is decoded. A file of some kilobytes can declare 100,000 by 100,000 pixels, which would take 40 GB to show,
so pictures that cannot be measured are rejected.

SVG is not supported: it can contain scripts and references, has no magic bytes, and its size does not bound the cost
of rendering it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_ISPE = re.compile(rb"ispe\x00{4}(.{8})", re.DOTALL)  # "image spatial extents" of ISO 23008-12
_BRANDS = frozenset({b"avif", b"avis"})
_MAX_HEAD_BYTES = 2**18  # parsed in small steps
_MAX_SEGMENTS = 10_000  # per JPEG
_MAX_BOXES = 16  # per AVIF, before the one that describes it


class Picture(NamedTuple):
    media_type: str
    width: int  # pixels
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


def picture_in(body: bytes) -> Picture | None:
    """The type and size of a picture, or None; of several in one file, such as frames, the largest.

    Supports PNG, JPEG, GIF, WebP and AVIF, by magic bytes as browsers do (WHATWG MIME Sniffing).

    >>> picture_in(b"GIF89a\\x40\\x00\\x30\\x00\\x00\\x00\\x00\\x2c\\x00\\x00\\x00\\x00\\x40\\x00\\x30\\x00\\x00")
    Picture(media_type='image/gif', width=64, height=48)
    >>> picture_in(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None
    True
    """
    for begins, media_type, measure in _KINDS:
        if begins.match(body):
            sizes = [size for size in measure(body) if min(size) > 0]
            if not sizes:
                return None
            return Picture(media_type, max(width for width, _ in sizes), max(height for _, height in sizes))
    return None


Sizes = Iterator[tuple[int, int]]  # widths and heights


def _little(body: bytes, position: int, length: int) -> int:
    """A little-endian number; 0 past the end."""
    return int.from_bytes(body[position : position + length], "little")


def _big(body: bytes, position: int, length: int) -> int:
    return int.from_bytes(body[position : position + length], "big")


def _png(body: bytes) -> Sizes:
    if body[12:16] == b"IHDR":
        yield _big(body, 16, 4), _big(body, 20, 4)


def _jpeg(body: bytes) -> Sizes:
    position = 2
    for _ in range(_MAX_SEGMENTS):
        if position + 9 > len(body) or body[position] != 0xFF:
            return
        marker = body[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a frame, not a table
            yield _big(body, position + 7, 2), _big(body, position + 5, 2)
            return
        if marker == 0xFF:  # padding
            position += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD7:  # markers without content
            position += 2
        else:
            position += 2 + _big(body, position + 2, 2)


def _gif(body: bytes) -> Sizes:
    """The size of the screen, and of the first frame, for which browsers enlarge the screen."""
    head = body[:_MAX_HEAD_BYTES]
    yield _little(head, 6, 2), _little(head, 8, 2)
    position = 13 + _color_table(head[10:11])
    while head[position : position + 1] == b"\x21":  # an extension: blocks up to an empty one
        position += 2
        while length := _little(head, position, 1):
            position += 1 + length
        position += 1
    if head[position : position + 1] == b"\x2c":
        left, top, width, height = (_little(head, position + offset, 2) for offset in (1, 3, 5, 7))
        yield left + width, top + height


def _color_table(flags: bytes) -> int:
    """The size of the colour table in bytes; 0 without its flag."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _webp(body: bytes) -> Sizes:
    kind = body[12:16]
    if kind == b"VP8 " and body[23:26] == b"\x9d\x01\x2a":
        yield _little(body, 26, 2) & 0x3FFF, _little(body, 28, 2) & 0x3FFF
    elif kind == b"VP8L" and body[20:21] == b"\x2f":
        both = _little(body, 21, 4)
        yield (both & 0x3FFF) + 1, ((both >> 14) & 0x3FFF) + 1
    elif kind == b"VP8X" and len(body) >= 30:
        yield _little(body, 24, 3) + 1, _little(body, 27, 3) + 1


def _avif(body: bytes) -> Sizes:
    """All sizes in its metadata: of the picture, its tiles, its alpha channel and its thumbnail."""
    length = min(_big(body, 0, 4), 1_024)
    brands = {body[8:12], *(body[position : position + 4] for position in range(16, length, 4))}
    if brands & _BRANDS:
        for match in _ISPE.finditer(_box(body, b"meta")[:_MAX_HEAD_BYTES]):
            yield _big(match[1], 0, 4), _big(match[1], 4, 4)


def _box(body: bytes, name: bytes) -> bytes:
    """The first top-level box of this name (ISO 14496-12), or nothing."""
    position = 0
    for _ in range(_MAX_BOXES):
        length = _big(body, position, 4)
        if length == 1:
            length = _big(body, position + 8, 8)
        if body[position + 4 : position + 8] == name:
            return body[position : position + length] if length else body[position:]
        if length < 8:
            break
        position += length
    return b""


_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS = tuple(
    (re.compile(begins, re.DOTALL), media_type, measure)
    for begins, media_type, measure in (
        (re.escape(_PNG), "image/png", _png),
        (rb"\xff\xd8\xff", "image/jpeg", _jpeg),
        (rb"GIF8[79]a", "image/gif", _gif),
        (rb"RIFF.{4}WEBPVP8", "image/webp", _webp),
        (rb".{4}ftyp", "image/avif", _avif),
    )
)
