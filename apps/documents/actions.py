"""The only writers of documents: rows and files together. Each may be called twice.

A row without its file would be a lost document, a file without a row only takes room. So a file is written before its
row, and one that a crash left without a row is swept away a day later. Whoever touches a document's row and file holds
its lock (an advisory one of Postgres, since a row that is not there yet cannot be locked) from before the first look
until the commit. Without it, this would lose a document: `keep` sees the file of an expired document, `forget_expired`
deletes file and row, and `keep` then writes a row for a file that is gone.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from apps.documents import queries, storage
from apps.documents.algorithms.packing import hash_of, pack
from apps.documents.models import RawDocument

logger = logging.getLogger(__name__)

MAX_DOCUMENT_BYTES = 10 * 2**20  # bytes
BATCH = 1_000
ORPHANED_AFTER = timedelta(days=1)  # longer than any transaction that is about to write a row


class DocumentTooLarge(ValueError):
    """A document is larger than what is kept; the message says how large it is."""


def keep(body: bytes, *, url: str, content_type: str, now: datetime, days: int | None = None) -> bytes:
    """Keep a document for so many days, by default as many as the settings say; its hash.

    One that is kept already stays what it is, until the later of the two days.

    Raises
    ------
    DocumentTooLarge
        If it is larger than 10 MB.
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
        if row is not None and storage.is_whole(digest, row.stored_size):
            latest = Greatest(F("expires_at"), Value(expires_at))
            RawDocument.objects.filter(pk=digest).update(expires_at=latest)
            return digest
        # Here a file may lie without a row, or shorter than its row says: what a crash left, so it is written anew.
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


def forget_expired(*, now: datetime) -> int:
    """Delete documents whose time is over; how many. What a storage does not let go of is left to the next time."""
    forgotten = 0
    while True:
        batch = [bytes(digest) for digest in queries.expired(now).values_list("pk", flat=True)[:BATCH]]
        gone = _each(batch, lambda digest: _forget(digest, now))
        forgotten += gone
        if not gone or len(batch) < BATCH:
            return forgotten


def sweep(*, now: datetime) -> int:
    """Delete files that have no row, in one of 256 folders, the next one each hour: all of them within eleven days."""
    number = int(now.timestamp() // 3_600) % storage.FOLDERS
    swept = 0
    for digests in storage.folder(number):
        orphans = set(digests) - queries.kept_among(digests)
        swept += _each(sorted(orphans), lambda digest: _sweep(digest, now))
    return swept


def _each(digests: Iterable[bytes], delete: Callable[[bytes], bool]) -> int:
    """Delete documents one by one, each in a transaction of its own; how many. One that fails stops no other."""
    done = 0
    for digest in digests:
        try:
            done += delete(digest)
        except DatabaseError:
            raise
        except Exception:  # storages raise whatever the library below them does
            logger.exception("the storage does not let go of the document %s", digest.hex())
    return done


@transaction.atomic
def _forget(digest: bytes, now: datetime) -> bool:
    """The file goes first: after a crash in between, the row is still there, and expired, to try again by."""
    _lock(digest)
    row = queries.expired(now).filter(pk=digest)
    if not row.exists():  # it was kept again, or somebody else forgot it
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
    """Have a document to oneself until the transaction ends; those whose hashes begin alike wait for each other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], signed=True)])
