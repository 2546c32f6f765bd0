"""ZIP archives: written in pieces while they are sent, and read within limits."""

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, Any

from apps.account_data.formats.problems import BadArchive

PIECE = 64 * 2**10  # bytes
MAX_MEMBERS = 1_000
MAX_DIRECTORY_BYTES = 2**20  # of the list of members, which zipfile reads at once
MAX_MEMBER_BYTES = 400 * 10**6  # unpacked
MAX_WHOLE_BYTES = 600 * 10**6  # of all members that are read, unpacked
MAX_LINE_BYTES = 100_000
MAX_LINES = 1_000_000  # per member


class _Sink:
    """Collects what zipfile writes until it is sent; not seekable."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Required by zipfile; pieces are sent by the caller."""

    def taken(self) -> bytes:
        whole, self._pieces, self.size = b"".join(self._pieces), [], 0
        return whole


def packed(members: Iterable[tuple[str, Iterable[bytes]]], at: datetime) -> Iterator[bytes]:
    """An archive of these members, in pieces. Only one piece is in memory at a time.

    >>> from io import BytesIO
    >>> archive = b"".join(packed([("a.txt", [b"one ", b"two"])], datetime(2024, 5, 1)))
    >>> Container(BytesIO(archive)).whole("a.txt")
    b'one two'
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for name, pieces in members:
            information = zipfile.ZipInfo(name, at.timetuple()[:6])
            information.compress_type = zipfile.ZIP_DEFLATED
            information.external_attr = 0o600 << 16
            with archive.open(information, "w", force_zip64=True) as member:
                for piece in pieces:
                    member.write(piece)
                    if sink.size >= PIECE:
                        yield sink.taken()
    yield sink.taken()


class _LimitedReads:
    """A file with a limit on single reads: a list of a million members would fill the memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(min(size, MAX_DIRECTORY_BYTES + 1) if size >= 0 else MAX_DIRECTORY_BYTES + 1)
        if len(data) > MAX_DIRECTORY_BYTES:
            raise BadArchive("Its table of contents is too long.")
        return data

    def seek(self, place: int, whence: int = 0) -> int:
        try:
            return self._file.seek(place, whence)
        except ValueError as error:  # before its beginning
            raise BadArchive("It points to a place before its beginning.") from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def close(self) -> None:
        """The caller closes the file."""


class Container:
    """An uploaded archive. Members are unpacked on request, and sizes are counted instead of trusted.

    Raises BadArchive if it is not an archive or exceeds a limit.

    Examples
    --------
    >>> from io import BytesIO
    >>> Container(BytesIO(b"<opml/>"))
    Traceback (most recent call last):
    apps.account_data.formats.problems.BadArchive: This is not a ZIP archive.
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._archive = zipfile.ZipFile(_LimitedReads(file))
        except (zipfile.BadZipFile, ValueError, OSError, OverflowError, NotImplementedError) as error:
            if isinstance(error, BadArchive):
                raise
            raise BadArchive("This is not a ZIP archive.") from error
        if len(self._archive.infolist()) > MAX_MEMBERS:
            raise BadArchive(f"It has more than {MAX_MEMBERS} members.")
        self.names = frozenset(self._archive.namelist())
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def whole(self, name: str, most: int = 10_000_000) -> bytes:
        """A member as a whole. Raises BadArchive if it is missing, damaged, or longer than `most` bytes."""
        pieces, size = [], 0
        for piece in self._pieces(name):
            size += len(piece)
            if size > most:
                raise BadArchive(f"It is larger than {most / 1_000_000:g} MB.", name)
            pieces.append(piece)
        return b"".join(pieces)

    def lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """The lines of a member that are not blank, with their numbers; none if the member is missing."""
        if name not in self:
            return
        rest, number = b"", 0
        for piece in self._pieces(name):
            *complete, rest = (rest + piece).split(b"\n")
            for line in complete:
                number += 1
                yield from _line(name, number, line)
            if len(rest) > MAX_LINE_BYTES:
                break
        yield from _line(name, number + 1, rest)

    def _pieces(self, name: str) -> Iterator[bytes]:
        size = 0
        try:
            with self._archive.open(name) as member:
                while piece := member.read(PIECE):
                    size += len(piece)
                    self._unpacked += len(piece)
                    if size > MAX_MEMBER_BYTES or self._unpacked > MAX_WHOLE_BYTES:
                        raise BadArchive("It is too large when unpacked.", name)
                    yield piece
        except KeyError:
            raise BadArchive("It is missing.", name) from None
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise BadArchive("It is damaged, encrypted or packed in an unusual way.", name) from error


class SingleFile(Container):
    """An uploaded file that is no archive, as a container of one member."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.names = frozenset([name])
        self._file = file

    def whole(self, name: str, most: int = 10_000_000) -> bytes:
        data = self._file.read(most + 1)
        if len(data) > most:
            raise BadArchive(f"It is larger than {most / 1_000_000:g} MB.", name)
        return data


def _line(name: str, number: int, line: bytes) -> Iterator[tuple[int, bytes]]:
    if len(line) > MAX_LINE_BYTES:
        raise BadArchive(f"The line is longer than {MAX_LINE_BYTES:,} bytes.", name, number)
    if number > MAX_LINES:
        raise BadArchive(f"It has more than {MAX_LINES:,} lines.", name)
    if line.strip():
        yield number, line
