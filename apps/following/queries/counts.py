"""The number of unread postings of each followed source: what was counted before, and what has come since."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.accounts.models import User
from apps.database.statements import MAX_ID, fetch_as
from apps.following.queries.copies import READ_BY_COPY
from apps.following.queries.states import NEW

MAX_COUNTED = 1_000  # unread postings per source and per list, beyond which pages do not count
WORTH_STORING = 10  # unread postings of a source


# Stored counts hold while the version of the states is the same: the statement's one snapshot sees a change with its
# `StateChange`, or neither. Postings stored since have higher ids, see `Follow`. OFFSET 0 keeps Postgres from scanning
# everything published since `unread_from`, instead of an index-only scan of these.
def counting(columns: str = "follow.source_id", joined: str = "") -> str:
    """The statement that counts for each of a user's follows, with columns of it and of what is `joined` to it.

    The names of its values are those of `names_of`.
    """
    return f"""
WITH kept AS MATERIALIZED (
    SELECT posting.source_id, count(*) FILTER (WHERE first_copy IS NULL) AS single,
        array_agg(first_copy) FILTER (WHERE first_copy IS NOT NULL) AS copied
    FROM following_mark mark JOIN postings_posting posting ON posting.id = mark.posting_id
    JOIN following_follow follow ON follow.source_id = posting.source_id AND follow.user_id = mark.user_id
    WHERE mark.user_id = %(user)s AND NOT mark.read AND NOT ({NEW}) AND NOT {READ_BY_COPY}
    GROUP BY posting.source_id
)
SELECT {columns}, state.version, arrived.amount AS arrived,
    (CASE WHEN whole.amount < %(most)s THEN apart.single ELSE whole.amount END)::int AS single,
    CASE WHEN whole.amount < %(most)s THEN apart.copied ELSE '{{}}' END AS copied,
    -- the last posting that is counted, where that is worth storing
    CASE WHEN arrived.amount >= %(worthwhile)s
        THEN (SELECT max(id) FROM postings_posting WHERE source_id = follow.source_id) END AS through
FROM following_follow follow {joined}
CROSS JOIN (
    SELECT coalesce(sum(amount), 0) AS version FROM following_statechange
    WHERE reader IN (0, %(user)s) AND source = 0
) everywhere
CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0) + everywhere.version AS version FROM following_statechange
    WHERE reader IN (0, %(user)s) AND source = follow.source_id
) state
LEFT JOIN following_unreadcount stored ON stored.user_id = %(user)s AND stored.source = follow.source_id
    AND stored.version = state.version AND stored.single + cardinality(stored.copied) < %(complete)s
LEFT JOIN kept ON kept.source_id = follow.source_id AND stored.id IS NULL
CROSS JOIN LATERAL (
    SELECT coalesce(stored.single, kept.single, 0) AS single,
        coalesce(stored.copied, kept.copied, '{{}}') AS copied,
        greatest(stored.through, follow.read_through) AS through
) before
CROSS JOIN LATERAL (
    SELECT count(*) AS amount, count(*) FILTER (WHERE first_copy IS NULL) AS single,
        array_agg(first_copy) FILTER (WHERE first_copy IS NOT NULL) AS copied
    FROM (
        SELECT first_copy FROM (
            SELECT follow.id AS follow_id, id, published_at, first_copy FROM postings_posting
            WHERE source_id = follow.source_id AND id > before.through OFFSET 0
        ) posting
        WHERE {NEW} AND NOT {READ_BY_COPY} AND NOT EXISTS (
            SELECT FROM following_mark mark WHERE user_id = %(user)s AND posting_id = posting.id AND read)
        LIMIT greatest(%(most)s - before.single - cardinality(before.copied), 0)
    ) posting
) arrived
CROSS JOIN LATERAL (
    SELECT before.single + arrived.single AS single, before.copied || coalesce(arrived.copied, '{{}}') AS copied
) apart
CROSS JOIN LATERAL (SELECT apart.single + cardinality(apart.copied) AS amount) whole
WHERE follow.user_id = %(user)s
"""


COUNTS = counting()


@dataclass(frozen=True, slots=True)
class Unread:
    """What is unread in a list."""

    single: int = 0  # postings without copies
    articles: frozenset[int] = frozenset()  # the first copies of the others
    arrived: int = 0  # postings that were counted for this, and are worth storing

    @property
    def count(self) -> int:
        """At most `MAX_COUNTED`."""
        return min(self.single + len(self.articles), MAX_COUNTED)

    @classmethod
    def of_all(cls, parts: Iterable["Unread"]) -> "Unread":
        """Of several sources together."""
        known = list(parts)
        single = sum(part.single for part in known)
        if single >= MAX_COUNTED:
            return cls(single)
        return cls(single, frozenset().union(*(part.articles for part in known)))


def names_of(user: User, *, exact: bool = False) -> dict[str, int]:
    """The values of `COUNTS`. Of an exact count those that were stored at the limit are counted again."""
    limits = {"most": MAX_ID, "complete": MAX_COUNTED} if exact else {"most": MAX_COUNTED, "complete": MAX_COUNTED + 1}
    return {"user": user.pk, "worthwhile": WORTH_STORING, **limits}


def unread_counts(user: User) -> dict[int, int]:
    """The number of unread postings of each followed source that has any, however many. One query."""

    def read(*, source_id: int, single: int, copied: list[int], **_others: object) -> tuple[int, int]:
        return source_id, single + len(copied)

    found = fetch_as(read, COUNTS, names_of(user, exact=True), generic=True)
    return {source_id: amount for source_id, amount in found if amount}
