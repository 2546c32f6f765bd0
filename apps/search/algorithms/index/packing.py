"""Arrays as bytes in the rows of the index."""

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apps.search.algorithms.index.inversion import Inversion
from apps.search.algorithms.models.bm25 import impacts, packed
from apps.search.algorithms.models.index import Row

MAX_GENERATION = 65_536  # documents, so that an offset fits 16 bits

COPY_BEGIN = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # of Postgres' binary format of COPY
COPY_END = b"\xff\xff"
_ROW_HEAD = struct.Struct(">hiiiiihi")  # four columns, each after its length; the last one's bytes follow


def pack_numbers(values: ArrayLike, kind: str = "<i4") -> bytes:
    """Integers as little-endian bytes; raises OverflowError if one does not fit.

    >>> pack_numbers([1, -2]).hex()
    '01000000feffffff'
    """
    given = np.asarray(values, np.int64)
    kept = given.astype(kind)
    if not np.array_equal(kept, given):
        raise OverflowError(f"a number between {given.min()} and {given.max()} does not fit {kind}")
    return kept.tobytes()


def pack_flags(flags: NDArray[np.bool_]) -> bytes:
    """
    >>> pack_flags(np.array([True, False, True])).hex()
    'a0'
    """
    return np.packbits(flags).tobytes()


def unpack_flags(data: bytes | memoryview, size: int) -> NDArray[np.bool_]:
    """
    >>> unpack_flags(bytes.fromhex("a0"), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(np.frombuffer(data, np.uint8), count=size).astype(np.bool_)


def unpack_row(data: bytes | memoryview, largest: int) -> Row:
    """The postings of one row, without a copy: offsets of two bytes, then impacts of one byte.

    >>> row = unpack_row(bytes([0, 0, 7, 0, 255, 100]), largest=255)
    >>> row.documents.tolist(), row.impacts.tolist()
    ([0, 7], [255, 100])
    """
    count = len(data) // 3
    return Row(np.frombuffer(data, "<u2", count), np.frombuffer(data, np.uint8, count, 2 * count), largest)


def copied_rows(inverted: Inversion, generation_id: int, average_length: float) -> Iterator[bytes]:
    """The rows of a generation of at most MAX_GENERATION documents as pieces of Postgres' binary COPY.

    Columns: term, generation, largest impact, postings.
    """
    worth = packed_impacts(inverted, average_length)
    largest = np.maximum.reduceat(worth, inverted.bounds[:-1]).tolist() if worth.size else []
    offsets, values = inverted.documents.astype("<u2").tobytes(), worth.tobytes()
    bounds = inverted.bounds.tolist()
    head = _ROW_HEAD.pack
    yield COPY_BEGIN
    for number, term in enumerate(inverted.terms.tolist()):
        start, end = bounds[number], bounds[number + 1]
        yield (
            head(4, 4, term, 4, generation_id, 2, largest[number], 3 * (end - start))
            + offsets[2 * start : 2 * end]
            + values[start:end]
        )
    yield COPY_END


def packed_impacts(inverted: Inversion, average_length: float) -> NDArray[np.uint8]:
    lengths = inverted.lengths[inverted.documents]
    return packed(impacts(inverted.frequencies, lengths, average_length))
