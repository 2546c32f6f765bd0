"""File format of documents: gzip under the name of the hash, so that `zcat` and `sha256sum` can check it."""

import re
import zlib
from hashlib import sha256

_GZIP = 31  # zlib's number for gzip, header and checksum included
_NAME = re.compile(r"[0-9a-f]{64}\.gz")
_PACKED_ALREADY = ("image/", "audio/", "video/", "application/zip", "application/gzip", "font/")


class Damaged(ValueError):
    """A file does not hold the document of its name; the message has the reason."""


def hash_of(body: bytes) -> bytes:
    """SHA-256, 32 bytes."""
    return sha256(body).digest()


def path_of(digest: bytes) -> str:
    """The path of a document's file, in one of 65,536 folders, since many storages are slow with large ones.

    >>> path_of(hash_of(b"news"))[:20]
    '19/fb/19fba0e995b979'
    """
    name = digest.hex()
    return f"{name[:2]}/{name[2:4]}/{name}.gz"


def hash_in(name: str) -> bytes | None:
    """The hash of the document whose file has this name, None for any other file.

    >>> hash_in(path_of(hash_of(b"news")).rpartition("/")[2]) == hash_of(b"news"), hash_in("README")
    (True, None)
    """
    return bytes.fromhex(name.removesuffix(".gz")) if _NAME.fullmatch(name) else None


def pack(body: bytes, content_type: str) -> bytes:
    """A document as gzip. Pictures and other compressed types are only framed."""
    level = 0 if content_type.lower().startswith(_PACKED_ALREADY) else 6
    packer = zlib.compressobj(level, wbits=_GZIP)
    return packer.compress(body) + packer.flush()


def unpack(stored: bytes, digest: bytes, size: int) -> bytes:
    """The document of this hash and size in a file, or `Damaged`; never decompresses more than the size.

    >>> unpack(pack(b"news", "text/plain"), hash_of(b"news"), 4)
    b'news'
    """
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        body = unpacker.decompress(stored, size + 1)
    except zlib.error as error:
        raise Damaged("its file is not gzip") from error
    if len(body) != size or not unpacker.eof:
        raise Damaged(f"its file does not hold {size:,} bytes")
    if hash_of(body) != digest:
        raise Damaged("its file holds other bytes")
    return body
