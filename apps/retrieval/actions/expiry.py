"""Delete expired postings, unless a user starred them or wrote a note on them."""

from datetime import datetime
from math import ceil

from django.conf import settings
from django.db import transaction

from apps.database.sizes import sizes
from apps.database.statements import execute, query
from apps.documents import actions as documents
from apps.documents.queries import kept
from apps.postings.actions import forget_old_fingerprints, note_recent_copies
from apps.postings.models import Posting
from apps.retrieval.queries.retention import NOT_KEPT, expired, live_bytes, oldest

BATCH = 500  # postings per transaction


def forget_expired(*, now: datetime) -> int:
    """Delete the postings that are older than their retention, or beyond the quota; returns how many there were."""
    note_recent_copies(now)
    forget_old_fingerprints(now)
    deleted = after = 0
    while True:
        ids, after = expired(after, BATCH, now)
        if not ids:
            return deleted + _forget_beyond_quota(now)
        deleted += _delete(ids, now)


def _forget_beyond_quota(now: datetime) -> int:
    """Delete the postings that were stored first, until the rest fits into the quota."""
    if not settings.QUOTA_BYTES:
        return 0
    used, per_posting = live_bytes(sizes())
    excess = used + kept().bytes - settings.QUOTA_BYTES
    wanted = ceil(excess / per_posting) if excess > 0 and per_posting else 0
    deleted = after = 0
    while deleted < wanted and (ids := oldest(after, min(BATCH, wanted - deleted))):
        deleted += _delete(ids, now)
        after = ids[-1]
    return deleted


@transaction.atomic
def _delete(posting_ids: list[int], now: datetime) -> int:
    """Delete those that no user has starred or noted in the meantime; the lock prevents it from here on."""
    execute("SELECT id FROM postings_posting WHERE id = ANY(%s) ORDER BY id FOR UPDATE", [posting_ids])
    rows = query(f"SELECT id, document FROM postings_posting posting WHERE id = ANY(%s) AND {NOT_KEPT}", [posting_ids])
    Posting.objects.filter(pk__in=[row.id for row in rows]).delete()
    pages = {bytes(row.document) for row in rows if row.document}
    shared = Posting.objects.filter(document__in=pages).values_list("document", flat=True)
    documents.release(pages - set(map(bytes, shared)), now=now)
    return len(rows)
