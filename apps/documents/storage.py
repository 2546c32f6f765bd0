"""The files of documents on the storage that the settings name."""

from collections.abc import Iterator
from datetime import datetime

from django.core.files.base import ContentFile
from django.core.files.storage import storages

from apps.documents.algorithms.packing import hash_in, path_of

FOLDERS = 256  # of the first level, and in each of them


def write(digest: bytes, stored: bytes) -> None:
    """Write or replace a document's file; raises OSError if the storage saves it under another name."""
    storage = storages["documents"]
    name = path_of(digest)
    storage.delete(name)  # or the storage would save a second file under another name
    written = storage.save(name, ContentFile(stored))
    if written != name:
        storage.delete(written)
        raise OSError(f"The storage of documents keeps {name} as {written}: something else writes there, too.")


def read(digest: bytes, stored_size: int) -> bytes:
    """The content of a document's file, up to one byte more than its size; raises FileNotFoundError."""
    with storages["documents"].open(path_of(digest)) as file:
        return bytes(file.read(stored_size + 1))


def delete(digest: bytes) -> None:
    """Delete a document's file if it exists."""
    storages["documents"].delete(path_of(digest))


def changed_at(digest: bytes) -> datetime | None:
    try:
        return storages["documents"].get_modified_time(path_of(digest))
    except FileNotFoundError:
        return None


def folder(number: int) -> Iterator[list[bytes]]:
    """The hashes whose files lie in one of the 256 folders of the first level, by folder of the second."""
    storage = storages["documents"]
    outer = f"{number:02x}"
    try:
        inner, _ = storage.listdir(outer)
    except FileNotFoundError:
        return
    for name in sorted(inner):
        _, files = storage.listdir(f"{outer}/{name}")
        yield [digest for file in files if (digest := hash_in(file))]
