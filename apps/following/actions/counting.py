"""Stores what is counted for pages, and joins the changes after which it is counted again."""

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following.queries.counts import COUNTS, names_of

# A concurrent request may store an earlier version: then the next page counts again.
_STORE = f"""
INSERT INTO following_unreadcount (user_id, source, version, through, single, copied)
SELECT %(user)s, source_id, version, through, single, copied FROM ({COUNTS}) counted
WHERE through IS NOT NULL ORDER BY source_id
ON CONFLICT (user_id, source) DO UPDATE SET
    version = excluded.version, through = excluded.through, single = excluded.single, copied = excluded.copied
"""
# Concurrent changes stay as they are, and each version keeps its sum.
_JOIN = """
WITH joined AS (
    DELETE FROM following_statechange change USING (
        SELECT reader, source FROM following_statechange GROUP BY reader, source HAVING count(*) > 1
    ) several
    WHERE change.reader = several.reader AND change.source = several.source
    RETURNING change.reader, change.source, change.amount
)
INSERT INTO following_statechange (reader, source, amount)
SELECT reader, source, sum(amount) FROM joined GROUP BY reader, source
"""
_FORGET = """
DELETE FROM following_statechange WHERE reader <> 0 AND NOT EXISTS (SELECT FROM accounts_user WHERE id = reader)
"""


def store_counts(user: User) -> None:
    """Count what is unread, and store it for the next pages."""
    execute(_STORE, names_of(user))


def join_changes() -> int:
    """Join the changes of each user and source to one, and forget those of deleted users."""
    return execute(_FORGET) + execute(_JOIN)
