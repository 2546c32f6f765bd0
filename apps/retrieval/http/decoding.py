"""Decode the content codings of HTTP (RFC 9110) incrementally and never beyond a limit."""

import zlib

import brotli

ACCEPTED = "gzip, deflate, br"  # the value of Accept-Encoding

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_MEMBERS = 1_000  # per gzip stream; empty ones cost time and yield nothing


class TooLarge(ValueError):
    """The decoded body is larger than the limit."""


class Undecodable(ValueError):
    """The bytes are not in the coding that the server named; the message gives the reason."""


class Decoder:
    """Decodes a body that arrives in pieces.

    >>> decoder = Decoder("gzip", limit=100)
    >>> decoder.feed(zlib.compress(b"news", wbits=31))
    >>> decoder.finish()
    b'news'
    """

    def __init__(self, content_encoding: str, *, limit: int) -> None:
        """Raises Undecodable if the Content-Encoding header names an unknown coding, or several."""
        names = [name for part in content_encoding.split(",") if (name := part.strip().lower()) not in {"", "identity"}]
        if len(names) > 1 or any(name not in _CODINGS for name in names):
            raise Undecodable(f"The response is encoded as “{content_encoding[:100]}”, which was not requested.")
        self._coding = _CODINGS[names[0]]() if names else _Identity()
        self._limit = limit
        self._size = 0
        self._parts: list[bytes] = []
        self._name = names[0] if names else "identity"
        self._empty = True

    def feed(self, data: bytes) -> None:
        """Decode further bytes; raises TooLarge as soon as the body exceeds the limit, and Undecodable."""
        self._empty = self._empty and not data
        try:
            part = self._coding.decode(data, self._limit - self._size + 1)
        except (zlib.error, brotli.error) as error:
            raise Undecodable(f"The response is not {self._name}, as its header says.") from error
        self._size += len(part)
        if self._size > self._limit:
            raise TooLarge(f"The response is larger than {self._limit:,} bytes.")
        self._parts.append(part)

    def finish(self) -> bytes:
        """The whole body, empty without any bytes; raises Undecodable if its end is missing."""
        if not self._empty and not self._coding.is_complete():
            raise Undecodable(f"The {self._name} stream of the response is incomplete.")
        return b"".join(self._parts)


class _Identity:
    def decode(self, data: bytes, most: int) -> bytes:
        return data

    def is_complete(self) -> bool:
        return True


class _Gzip:
    """Any number of members; other bytes after the last one are ignored, as gzip does."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._members = 1
        self._ended = False
        self._rest = b""  # after a member, too short to decide whether another begins

    def decode(self, data: bytes, most: int) -> bytes:
        if self._ended:
            return b""
        parts: list[bytes] = []
        data = self._rest + data
        self._rest = b""
        while data and most > 0:
            if self._member.eof and not self._begins_member(data):
                break
            part = self._member.decompress(data, most)
            parts.append(part)
            most -= len(part)
            data = self._member.unused_data
        return b"".join(parts)

    def _begins_member(self, data: bytes) -> bool:
        if len(data) < len(_GZIP_MAGIC):
            self._rest = data
            return False
        if not data.startswith(_GZIP_MAGIC):
            self._ended = True
            return False
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise Undecodable(f"The response has more than {_MAX_MEMBERS:,} gzip members.")
        self._member = zlib.decompressobj(wbits=31)
        return True

    def is_complete(self) -> bool:
        return self._member.eof


class _Deflate:
    """The zlib format of the standard, or raw deflate, as many servers send it."""

    def __init__(self) -> None:
        self._head = b""
        self._stream: zlib._Decompress | None = None

    def decode(self, data: bytes, most: int) -> bytes:
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return b""
            # The first two bytes of zlib name method 8 and are a multiple of 31 (RFC 1950).
            is_zlib = self._head[0] & 0x0F == 8 and int.from_bytes(self._head[:2]) % 31 == 0
            self._stream = zlib.decompressobj(wbits=15 if is_zlib else -15)
            data = self._head
        return b"" if self._stream.eof else self._stream.decompress(data, most)

    def is_complete(self) -> bool:
        return self._stream is not None and self._stream.eof


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def decode(self, data: bytes, most: int) -> bytes:
        return b"" if self._stream.is_finished() else bytes(self._stream.process(data, output_buffer_limit=most))

    def is_complete(self) -> bool:
        return bool(self._stream.is_finished())


# `decode` stops soon after `most` decoded bytes, and is not called again then.
_CODINGS: dict[str, type[_Identity | _Gzip | _Deflate | _Brotli]] = {
    "gzip": _Gzip, "x-gzip": _Gzip, "deflate": _Deflate, "br": _Brotli,
}  # fmt: skip
