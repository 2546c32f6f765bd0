"""The history of read postings, and playback positions in recordings."""

from collections.abc import Iterable
from datetime import datetime

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.models import Playback, Reading

MAX_REMEMBERED = 2_000  # postings, of a user
MAX_RECORDING_SECONDS = 7 * 86_400.0


# One statement, because it runs whenever a posting is opened. Its DELETE sees the table as before the INSERT, so it
# considers the other postings alone and keeps as many as the new ones leave room for.
_REMEMBER = """
WITH remembered AS (
    INSERT INTO following_reading (user_id, posting_id, read_at)
    SELECT %(user)s, posting_id, %(now)s FROM unnest(%(postings)s::bigint[]) AS posting_id
    ON CONFLICT (user_id, posting_id) DO UPDATE SET read_at = excluded.read_at
)
DELETE FROM following_reading
WHERE user_id = %(user)s AND posting_id <> ALL (%(postings)s::bigint[]) AND read_at < (
    SELECT read_at FROM (
        SELECT %(now)s::timestamptz AS read_at UNION ALL
        SELECT read_at FROM following_reading WHERE user_id = %(user)s AND posting_id <> ALL (%(postings)s::bigint[])
    ) AS latest ORDER BY read_at DESC OFFSET %(room)s LIMIT 1)
RETURNING posting_id
"""


def remember_read(user: User, posting_ids: Iterable[int], *, now: datetime) -> None:
    """Add postings to the top of the user's history, and delete the oldest entries above the limit."""
    ids = sorted(set(posting_ids))
    if ids:
        room = max(MAX_REMEMBERED - len(ids), 0)
        fetch(_REMEMBER, {"user": user.pk, "postings": ids, "now": now, "room": room})


def clear_history(user: User) -> int:
    """Delete the history; returns the number of entries. The postings stay read."""
    deleted, _by_model = Reading.objects.filter(user=user).delete()
    return deleted


def save_position(user: User, posting_id: int, address: str, seconds: float, *, now: datetime) -> None:
    """Store the position; the last device wins."""
    Playback.objects.update_or_create(
        user=user,
        posting_id=posting_id,
        defaults={"address": address, "seconds": min(max(seconds, 0.0), MAX_RECORDING_SECONDS), "changed_at": now},
    )


def forget_position(user: User, posting_id: int) -> None:
    Playback.objects.filter(user=user, posting_id=posting_id).delete()
