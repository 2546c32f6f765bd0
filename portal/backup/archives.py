"""The archive of a backup: one gzipped tar, written and read in one go, whatever its size.

First come the pieces of Postgres' own dump (`database/000000` and so on, since a tar wants sizes beforehand), then the
files of documents (`documents/` and their hash), and last the manifest, which proves that the archive is complete.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from portal.databases import Content

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database/"
DOCUMENTS = "documents/"
PIECE = 16 * 2**20  # bytes of the dump in memory
MAX_MANIFEST_BYTES = 64 * 2**20  # bytes
QUICKLY = 1  # level of compression: the documents, most of the bytes, are compressed already


class BadArchive(Exception):
    """An invalid archive."""


@dataclass(frozen=True, slots=True)
class Manifest:
    version: str  # of the portal
    made_at: str  # ISO 8601
    server_version: int  # of Postgres
    migrations: frozenset[tuple[str, str]]
    tables: dict[str, Content]
    documents: int
    missing: int  # documents whose file no longer existed
    sha256: str  # of everything before the manifest

    def to_json(self) -> bytes:
        values = asdict(self) | {"format": FORMAT, "migrations": sorted(self.migrations)}
        return json.dumps(values, indent=1).encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        """Raises BadArchive for anything but a manifest of this format."""
        try:
            values = json.loads(data)
            if (written := values.pop("format")) != FORMAT:
                raise BadArchive(f"The archive has format {written}; this program reads format {FORMAT}.")
            values["migrations"] = frozenset((app, name) for app, name in values["migrations"])
            values["tables"] = {name: Content(*content) for name, content in values["tables"].items()}
            return cls(**values)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadArchive(f"The manifest of the archive cannot be read: {error}.") from error


class Writer:
    """Adds members to an archive."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._hash = hashlib.sha256()

    def add(self, name: str, data: bytes) -> None:
        self._hash.update(_head(name, len(data)))
        self._hash.update(data)
        self._write(name, data)

    def finish(self, manifest: Callable[[str], Manifest]) -> Manifest:
        """Write the manifest, made with the hash of all members."""
        made = manifest(self._hash.hexdigest())
        self._write(MANIFEST, made.to_json())
        return made

    def _write(self, name: str, data: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        member.mode = 0o600
        self._tar.addfile(member, io.BytesIO(data))
        self._tar.members.clear()  # type: ignore[attr-defined]  # it would remember millions of documents


@contextmanager
def written(file: Path) -> Iterator[Writer]:
    """An archive that gets its name when it is complete, readable by its owner alone."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
            with (
                gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=QUICKLY, mtime=0) as packed,
                tarfile.open(fileobj=packed, mode="w|") as tar,
            ):
                yield Writer(tar)
            raw.flush()
            os.fsync(raw.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def members(file: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents in order, one in memory at a time; raises BadArchive if the archive is damaged or cut off."""
    try:
        with gzip.open(file, "rb") as packed:
            with tarfile.open(fileobj=packed, mode="r|") as tar:
                while (member := tar.next()) is not None:
                    tar.members.clear()  # type: ignore[attr-defined]
                    yield member.name, _content(tar, member)
            while packed.read(2**20):  # gzip's checksum is at the very end
                pass
    except (EOFError, zlib.error, tarfile.TarError, gzip.BadGzipFile) as error:
        raise BadArchive(f"{file} is no whole archive of a backup: {error}.") from error
    except OSError as error:
        raise BadArchive(f"{file} cannot be read: {error.strerror or error}.") from error


def verified(file: Path) -> Manifest:
    """Read the whole archive and return its manifest; raises BadArchive if it differs from what was written."""
    seen, documents, data = hashlib.sha256(), 0, b""
    for name, content in members(file):
        if data:
            raise BadArchive(f"{file} goes on after its manifest.")
        if name == MANIFEST:
            data = content
            continue
        documents += name.startswith(DOCUMENTS)
        seen.update(_head(name, len(content)))
        seen.update(content)
    if not data:
        raise BadArchive(f"{file} has no manifest: it is no backup, or was cut off.")
    manifest = Manifest.from_json(data)
    if seen.hexdigest() != manifest.sha256 or documents != manifest.documents:
        raise BadArchive(f"{file} does not hold what its manifest says: it was changed.")
    return manifest


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(member) if member.isreg() and member.size <= MAX_MANIFEST_BYTES else None
    if stream is None:
        raise BadArchive(f"The archive holds {member.name!r}, which no backup has.")
    data = stream.read()
    if len(data) != member.size:
        raise BadArchive(f"The archive is cut off within {member.name!r}.")
    return data


def _head(name: str, size: int) -> bytes:
    return f"{name} {size}\n".encode()
