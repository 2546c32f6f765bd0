"""What people read of late."""

from collections.abc import Iterable
from datetime import datetime

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.models import Reading

MAX_REMEMBERED = 2_000  # postings that a person read lately


# One statement, since every posting that is opened is remembered. What it deletes it sees as it was before, and so it
# asks of the other postings alone: of these as many stay as the new readings leave room for.
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
    """Let postings stand in the history of what a person read, at its top; what lies far back is forgotten."""
    ids = sorted(set(posting_ids))
    if ids:
        room = max(MAX_REMEMBERED - len(ids), 0)
        fetch(_REMEMBER, {"user": user.pk, "postings": ids, "now": now, "room": room})


def clear_history(user: User) -> int:
    """Forget when the person read what; returns how many postings that were. They stay read."""
    deleted, _by_model = Reading.objects.filter(user=user).delete()
    return deleted
