"""The only writers of documents: rows and files together. Each is idempotent.

A row without its file would be a lost document; a file without a row only takes space. So a file is written before its
row, and one that a crash left without a row is swept a day later. Each action holds the document's advisory lock (a
missing row cannot be locked) from its first read until the commit. Without it a document could get lost: `keep` sees
the file of an expired document, `forget_expired` deletes file and row, and `keep` writes a row for a deleted file.
"""

import logging
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from apps.database.statements import execute
from apps.documents import queries, storage
from apps.documents.algorithms.packing import hash_of, pack
from apps.documents.models import RawDocument

logger = logging.getLogger(__name__)

MAX_DOCUMENT_BYTES = 10 * 2**20  # bytes
BATCH = 1_000
ORPHANED_AFTER = timedelta(days=1)  # longer than any transaction that writes a row


class DocumentTooLarge(ValueError):
    """A document exceeds the size limit; the message has its size."""


def keep(body: bytes, *, url: str, content_type: str, now: datetime, days: int | None = None) -> bytes:
    """Store a document for `days`, by default those of the settings; returns its hash.

    A document that is stored already keeps its metadata and the later expiry. Above 10 MB: `DocumentTooLarge`.
    """
    if len(body) > MAX_DOCUMENT_BYTES:
        raise DocumentTooLarge(
            f"The document at {url[:200]} has {len(body):,} bytes; at most {MAX_DOCUMENT_BYTES:,} are kept."
        )
    digest = hash_of(body)
    expires_at = now + timedelta(days=settings.DOCUMENT_DAYS if days is None else days)
    with transaction.atomic():
        _lock(digest)
        row = RawDocument.objects.filter(pk=digest).first()
        if row is not None and queries.is_whole(row):
            latest = Greatest(F("expires_at"), Value(expires_at))
            RawDocument.objects.filter(pk=digest).update(expires_at=latest)
            return digest
        # A crash may have left a file without a row, or a truncated one: overwrite it.
        stored = pack(body, content_type)
        storage.write(digest, stored)
        RawDocument(
            hash=digest,
            size=len(body),
            stored_size=len(stored),
            content_type=row.content_type if row else content_type[:200],
            url=row.url if row else url,
            stored_at=now,
            expires_at=max(expires_at, row.expires_at) if row else expires_at,
        ).save(force_insert=row is None)
    return digest


def release(digests: Collection[bytes], *, now: datetime) -> None:
    """Let documents expire now; within an hour they are deleted."""
    RawDocument.objects.filter(pk__in=digests, expires_at__gt=now).update(expires_at=now)


def forget_expired(*, now: datetime) -> int:
    """Delete expired documents; returns how many. Those that the storage fails to delete are retried next time."""
    forgotten, is_full = 0, True
    while is_full:
        batch = [bytes(digest) for digest in queries.expired(now).values_list("pk", flat=True)[:BATCH]]
        gone = _each(batch, lambda digest: _forget(digest, now))
        forgotten += gone
        is_full = gone > 0 and len(batch) == BATCH
    return forgotten


def sweep(*, now: datetime) -> int:
    """Delete files without a row in one of 256 folders, another each hour: all of them within eleven days."""
    number = int(now.timestamp() // 3_600) % storage.FOLDERS
    swept = 0
    for digests in storage.folder(number):
        orphans = set(digests) - queries.kept_among(digests)
        swept += _each(sorted(orphans), lambda digest: _sweep(digest, now))
    return swept


def scrub(*, now: datetime) -> int:
    """Verify the documents of one of 256 folders, another each hour: all within eleven days. Returns the damaged ones.

    A damaged one is healed when its page is kept again.
    """
    first = bytes([int(now.timestamp() // 3_600) % storage.FOLDERS])
    damaged = 0
    for row in RawDocument.objects.filter(hash__gte=first, hash__lte=first.ljust(33, b"\xff")).iterator():
        is_whole = queries.is_whole(row)
        found = RawDocument.objects.filter(pk=row.pk).update(damaged_at=None if is_whole else now)
        if found and not is_whole:
            damaged += 1
            logger.error("the file of the document %s of %s is damaged", bytes(row.hash).hex(), row.url[:200])
    return damaged


def _each(digests: Iterable[bytes], delete: Callable[[bytes], bool]) -> int:
    """Delete documents, each in its own transaction; returns how many. A failure does not stop the others."""
    done = 0
    for digest in digests:
        try:
            done += delete(digest)
        except DatabaseError:
            raise
        except Exception:  # storages raise the exceptions of their libraries
            logger.exception("the storage failed to delete the document %s", digest.hex())
    return done


@transaction.atomic
def _forget(digest: bytes, now: datetime) -> bool:
    """The file goes first: after a crash in between, the expired row remains and the deletion is retried."""
    _lock(digest)
    row = queries.expired(now).filter(pk=digest)
    if not row.exists():  # it was stored again, or another process has deleted it
        return False
    storage.delete(digest)
    row.delete()
    return True


@transaction.atomic
def _sweep(digest: bytes, now: datetime) -> bool:
    _lock(digest)
    changed_at = storage.changed_at(digest)
    if changed_at is None or changed_at >= now - ORPHANED_AFTER or queries.kept_among([digest]):
        return False
    storage.delete(digest)
    return True


def _lock(digest: bytes) -> None:
    """Lock a document until the transaction ends, with those whose hashes share the first 64 bits."""
    execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], signed=True)])
