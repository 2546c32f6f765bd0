"""Reads of stored documents."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, QuerySet, Sum

from apps.documents import storage
from apps.documents.algorithms.packing import Damaged, unpack
from apps.documents.models import RawDocument


class DocumentLost(LookupError):
    """The document is not stored; the message says whether it should be."""


class DocumentDamaged(ValueError):
    """The stored file is not the document; the message has the reason."""


class Raw(NamedTuple):
    body: bytes
    content_type: str  # of the first response
    url: str  # where it was first found


def read(digest: bytes) -> Raw:
    """The document of this hash, verified; raises `DocumentLost` or `DocumentDamaged`."""
    row = RawDocument.objects.filter(pk=digest).first()
    if row is None:
        raise DocumentLost(f"The document {digest.hex()[:12]} is not kept: its time was over, or it never was here.")
    try:
        body = unpack(storage.read(digest, row.stored_size), digest, row.size)
    except FileNotFoundError as error:
        raise DocumentLost(f"The file of {row} is missing from the storage.") from error
    except Damaged as error:
        raise DocumentDamaged(f"The {row} is damaged: {error}.") from error
    return Raw(body, row.content_type, row.url)


def is_whole(row: RawDocument) -> bool:
    """Whether the stored file holds the document, by its hash."""
    digest = bytes(row.hash)
    try:
        unpack(storage.read(digest, row.stored_size), digest, row.size)
    except (FileNotFoundError, Damaged):
        return False
    return True


def expired(now: datetime) -> QuerySet[RawDocument]:
    """Expired documents, the earliest first."""
    return RawDocument.objects.filter(expires_at__lte=now).order_by("expires_at", "pk")


def kept_among(digests: Collection[bytes]) -> set[bytes]:
    return {bytes(digest) for digest in RawDocument.objects.filter(pk__in=digests).values_list("pk", flat=True)}


@dataclass(frozen=True, slots=True)
class Kept:
    """All documents that are kept."""

    count: int
    bytes: int  # of their files


def kept() -> Kept:
    totals = RawDocument.objects.aggregate(count=Count("pk"), bytes=Sum("stored_size", default=0))
    return Kept(totals["count"], totals["bytes"])
