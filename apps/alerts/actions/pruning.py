"""Delete old hits."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.alerts.actions.locks import MATCHING
from apps.database.advisory_locks import take
from apps.database.statements import fetch

KEPT = timedelta(days=90)
ALWAYS_KEPT = 100  # of each search, the newest
PRUNE_BATCH = 20_000

# The newest hits are found by the index of each search that has old ones.
_FORGET = """
WITH old AS MATERIALIZED (
    SELECT id, saved_id, posting_id FROM alerts_hit WHERE found_at < %s AND id > %s ORDER BY id LIMIT %s
), bound AS MATERIALIZED (
    SELECT searches.saved_id, newest.posting_id FROM (SELECT DISTINCT saved_id FROM old) searches, LATERAL (
        SELECT posting_id FROM alerts_hit hit WHERE hit.saved_id = searches.saved_id
        ORDER BY posting_id DESC OFFSET %s LIMIT 1
    ) newest
), gone AS (
    DELETE FROM alerts_hit USING old JOIN bound USING (saved_id)
    WHERE alerts_hit.id = old.id AND old.posting_id < bound.posting_id
)
SELECT max(id), (SELECT count(*) FROM old JOIN bound USING (saved_id) WHERE old.posting_id < bound.posting_id) FROM old
"""


def forget_old_hits(*, now: datetime) -> int:
    """Delete hits older than 90 days except the newest hundred of each search; returns how many."""
    forgotten = 0
    last: int | None = 0
    while last is not None:
        last, gone = _forget_some(now - KEPT, last)
        forgotten += gone
    return forgotten


@transaction.atomic
def _forget_some(before: datetime, behind: int) -> tuple[int | None, int]:
    take(MATCHING)
    [(last, gone)] = fetch(_FORGET, [before, behind, PRUNE_BATCH, ALWAYS_KEPT - 1])
    return last, gone
