"""What is read of what a person follows, said without the numbers that postings have in this portal."""

from datetime import datetime

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.queries.states import NEW

# What came up to a number counts as read: so does what was published before the latest of it, but for what came later.
_UNREAD_FROM = """
SELECT follow.source_id, greatest(follow.unread_from, latest.published_at + interval '1 microsecond') AS unread_from
FROM following_follow follow LEFT JOIN LATERAL (
    SELECT max(published_at) AS published_at FROM postings_posting posting
    WHERE posting.source_id = follow.source_id AND posting.id <= follow.read_through
) latest ON true WHERE follow.user_id = %s
"""
_UNREAD_BEFORE = f"""
SELECT posting.id FROM ({_UNREAD_FROM}) said
JOIN following_follow follow ON follow.user_id = %s AND follow.source_id = said.source_id
JOIN postings_posting posting
    ON posting.source_id = follow.source_id AND posting.published_at < said.unread_from AND {NEW}
LEFT JOIN following_mark mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
WHERE mark.read IS NULL ORDER BY posting.id
"""


def unread_from(user: User) -> dict[int, datetime]:
    """By source, the publication from which on all is unread that no mark says anything of."""
    return dict(fetch(_UNREAD_FROM, [user.pk]))


def unread_before(user: User) -> list[int]:
    """The postings that are unread without a mark, though they were published before that: they came late."""
    return [posting_id for (posting_id,) in fetch(_UNREAD_BEFORE, [user.pk, user.pk])]
