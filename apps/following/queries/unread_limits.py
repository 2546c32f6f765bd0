"""Read states of follows without posting ids, for use on another portal."""

from datetime import datetime

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.queries.states import NEW

# `read_through` becomes a date: that of the latest posting below it. Late arrivals with older dates are the exception.
_UNREAD_FROM = """
SELECT follow.source_id, greatest(follow.unread_from, latest.published_at + interval '1 microsecond') AS unread_from
FROM following_follow follow LEFT JOIN LATERAL (
    SELECT max(published_at) AS published_at FROM postings_posting posting
    WHERE posting.source_id = follow.source_id AND posting.id <= follow.read_through
) latest ON true WHERE follow.user_id = %s
"""
_UNREAD_BEFORE = f"""
SELECT posting.id FROM ({_UNREAD_FROM}) limits
JOIN following_follow follow ON follow.user_id = %s AND follow.source_id = limits.source_id
JOIN postings_posting posting
    ON posting.source_id = follow.source_id AND posting.published_at < limits.unread_from AND {NEW}
LEFT JOIN following_mark mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
WHERE mark.read IS NULL ORDER BY posting.id
"""


def unread_from(user: User) -> dict[int, datetime]:
    """By source, the publication date from which postings without a mark are unread."""
    return dict(fetch(_UNREAD_FROM, [user.pk]))


def unread_before(user: User) -> list[int]:
    """Unread postings without a mark that are older than that date, because they arrived late."""
    return [posting_id for (posting_id,) in fetch(_UNREAD_BEFORE, [user.pk, user.pk])]
