"""Delete expired postings, unless a user starred them or wrote a note on them."""

from datetime import datetime

from django.db import transaction

from apps.database.statements import execute, query
from apps.postings.actions import forget_old_fingerprints, note_recent_copies
from apps.postings.models import Posting

BATCH = 500  # postings of one transaction

_NOT_KEPT = """
    NOT EXISTS (SELECT FROM following_mark mark WHERE mark.posting_id = posting.id AND mark.starred_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM following_note note WHERE note.posting_id = posting.id)
"""
# A posting without a date of its own would be stored again as a new one while its source still shows it: of these, as
# many are kept as its latest document had items.
_EXPIRED = f"""
SELECT posting.id FROM postings_posting posting
JOIN sources_source source ON source.id = posting.source_id AND source.expiry_days IS NOT NULL
LEFT JOIN retrieval_weeklyprofile profile ON profile.source_id = source.id
WHERE posting.published_at < %(now)s - make_interval(days => source.expiry_days)
    AND posting.id > %(after)s AND {_NOT_KEPT}
    AND (posting.claimed_at IS NOT NULL OR coalesce(profile."window", 0) = 0 OR EXISTS (
        SELECT FROM postings_posting newer
        WHERE newer.source_id = posting.source_id AND newer.claimed_at IS NULL
            AND (newer.published_at, newer.id) > (posting.published_at, posting.id)
        OFFSET profile."window" - 1))
ORDER BY posting.id LIMIT %(batch)s
"""


def forget_expired(*, now: datetime) -> int:
    """Delete the postings that are older than their source's `expiry_days`; returns how many there were."""
    note_recent_copies(now)
    forget_old_fingerprints(now)
    deleted = after = 0
    while True:
        ids = [id for (id,) in query(_EXPIRED, {"now": now, "after": after, "batch": BATCH})]
        if not ids:
            return deleted
        deleted += _delete(ids)
        after = ids[-1]


@transaction.atomic
def _delete(posting_ids: list[int]) -> int:
    """Delete those that no user has starred or noted in the meantime; the lock prevents it from here on."""
    execute("SELECT id FROM postings_posting WHERE id = ANY(%s) ORDER BY id FOR UPDATE", [posting_ids])
    expired = query(f"SELECT id FROM postings_posting posting WHERE id = ANY(%s) AND {_NOT_KEPT}", [posting_ids])
    ids = [id for (id,) in expired]
    Posting.objects.filter(pk__in=ids).delete()
    return len(ids)
