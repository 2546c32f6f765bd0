"""Lists of a user's postings by time, fast for any number of follows and marks."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.database.statements import MAX_ID, fetch
from apps.following.queries import Scope
from apps.following.queries.copies import HIDDEN, READ_BY_COPY, REPRESENTS, REPRESENTS_UNREAD
from apps.following.queries.states import ARRIVED, NEW
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor

WALKED = 2_000  # newest postings of all sources that are tried first: most lists are full before
_EVER, _ALWAYS = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
MAX_SOURCES = 100  # of lists that are read source by source at once
MANY = 200  # arrivals of a source

# With many follows, a page is found among the newest postings of the portal. Otherwise, or if those are read, the page
# is read source by source. The second half runs only if the first found too few.
_LIST = """
WITH RECURSIVE folders AS (
    SELECT id FROM following_folder WHERE user_id = %(user)s AND id = %(folder)s
    UNION SELECT inner_one.id FROM following_folder inner_one JOIN folders ON inner_one.parent_id = folders.id
), mine AS MATERIALIZED (
    SELECT id, source_id, unread_from, read_through FROM following_follow WHERE user_id = %(user)s AND {mine}
), hidden AS MATERIALIZED (
    SELECT posting_id FROM following_mark WHERE user_id = %(user)s AND hidden
), near AS MATERIALIZED (
    SELECT id, source_id, published_at, first_copy FROM postings_posting posting WHERE {beyond}
    ORDER BY published_at {down}, id {down}
    LIMIT (SELECT CASE WHEN count(*) >= %(many_sources)s THEN %(walked)s::bigint ELSE 0 END FROM mine)
), walked AS MATERIALIZED (
    SELECT id, published_at FROM (
        SELECT posting.id, published_at, first_copy FROM near posting JOIN mine follow USING (source_id) {marks}
        WHERE {wanted} OFFSET 0
    ) posting WHERE {shown}
    ORDER BY published_at {down}, id {down} LIMIT %(limit)s
), enough AS MATERIALIZED (SELECT count(*) = %(limit)s AS is_so FROM walked)
(SELECT id, published_at FROM walked WHERE (SELECT is_so FROM enough))
UNION ALL
(SELECT id, published_at FROM ({each}) posting WHERE NOT (SELECT is_so FROM enough)
    ORDER BY published_at {down}, id {down} LIMIT %(limit)s)
ORDER BY published_at {down}, id {down}
"""
_MINE = {
    "all": "NOT muted",
    "folder": """NOT muted AND id IN (
        SELECT follow_id FROM following_follow_folders WHERE folder_id IN (SELECT id FROM folders))""",
    "source": "source_id = ANY(%(sources)s)",
    "sources": "source_id = ANY(%(sources)s)",
}
_MARKS = "LEFT JOIN following_mark mark ON mark.user_id = %(user)s AND mark.posting_id = posting.id"
_EACH = """
SELECT posting.id, posting.published_at FROM mine follow CROSS JOIN LATERAL (
    SELECT id, published_at FROM postings_posting posting
    WHERE source_id = follow.source_id AND {beyond} AND {shown} ORDER BY published_at {down}, id {down} LIMIT %(limit)s
) posting
"""
# Postings retrieved in an interval, by an index-only scan; the index by publication would have to visit the rows.
_EACH_ARRIVED = """
SELECT posting.id, posting.published_at FROM mine follow CROSS JOIN LATERAL (
    SELECT id, published_at, retrieved_at FROM postings_posting posting WHERE source_id = follow.source_id OFFSET 0
) posting WHERE {beyond}
"""
# Of a source with many arrivals only the first that are unread are read; of others all, which takes less if most of
# them were read.
_EACH_UNREAD = """
WITH sized AS MATERIALIZED (
    SELECT *, EXISTS (
        SELECT FROM postings_posting WHERE source_id = mine.source_id AND id > mine.read_through
        ORDER BY id OFFSET %(many)s
    ) AS is_long FROM mine
)
SELECT posting.id, posting.published_at FROM sized follow {arrived} {marks}
WHERE NOT is_long AND {new} AND {beyond} AND mark.read IS NOT TRUE AND {shown}
UNION ALL
SELECT posting.id, posting.published_at FROM sized follow CROSS JOIN LATERAL (
    SELECT id, published_at FROM postings_posting posting
    WHERE source_id = follow.source_id AND {new} AND {beyond} AND {shown} AND NOT EXISTS (
        SELECT FROM following_mark WHERE user_id = %(user)s AND posting_id = posting.id AND read)
    ORDER BY published_at {down}, id {down} LIMIT %(limit)s
) posting WHERE is_long
UNION ALL
SELECT posting.id, posting.published_at FROM following_mark mark
JOIN postings_posting posting ON posting.id = mark.posting_id JOIN mine follow ON follow.source_id = posting.source_id
WHERE mark.user_id = %(user)s AND NOT mark.read AND NOT ({new}) AND {beyond} AND {shown}
"""


class Arrival(NamedTuple):
    """An interval of retrieval times, both ends included."""

    since: datetime = _EVER
    until: datetime = _ALWAYS


def after_place(found: QuerySet[Posting], start: Cursor | None, *, oldest_first: bool) -> QuerySet[Posting]:
    """Postings after a place in a list, by time; without one from the top."""
    if start is not None:
        found = postings.after(found, start) if oldest_first else postings.before(found, start)
    return postings.oldest(found) if oldest_first else postings.newest(found)


def positions(
    user: User,
    scope: Scope,
    *,
    unread_only: bool = False,
    oldest_first: bool = False,
    start: Cursor | None = None,
    limit: int,
    arrival: Arrival | None = None,
    fold: bool = False,
) -> list[Cursor]:
    """The places of the first `limit` postings of a list after a place: all, a folder, or a followed source.

    With `fold` of copies only the one that represents the article; not with an interval of retrieval. One query.
    """
    names: dict[str, Any] = {
        "user": user.pk,
        "folder": scope.id,
        "sources": [scope.id] if scope.kind == "source" else list(scope.sources),
        "limit": limit,
        "walked": max(WALKED, 2 * limit) if arrival is None else 0,
        "many_sources": MAX_SOURCES,
        # The oldest unread ones, and those of an interval, may be far down.
        "many": MAX_ID if oldest_first or arrival is not None else MANY,
    }
    if start is not None:
        names |= {"published_at": start.published_at, "id": start.id}
    if arrival is not None:
        names |= {"since": arrival.since, "until": arrival.until}
    mine = _MINE[scope.kind]
    beyond = _beyond(oldest_first=oldest_first, is_first=start is None, is_bounded=arrival is not None)
    each = _EACH_UNREAD if unread_only else _EACH if arrival is None else _EACH_ARRIVED
    statement = _statement(mine, each, beyond, unread_only=unread_only, oldest_first=oldest_first, fold=fold)
    found = fetch(statement, names, generic=True)
    return [Cursor(published_at, posting_id) for posting_id, published_at in found]


def _beyond(*, oldest_first: bool, is_first: bool, is_bounded: bool) -> str:
    """The conditions on a single posting."""
    comparison = ">" if oldest_first else "<"
    place = f"(posting.published_at, posting.id) {comparison} (%(published_at)s::timestamptz, %(id)s)"
    arrival = "posting.retrieved_at BETWEEN %(since)s AND %(until)s"
    return " AND ".join(["true", *([] if is_first else [place]), *([arrival] if is_bounded else [])])


def _statement(mine: str, each: str, beyond: str, *, unread_only: bool, oldest_first: bool, fold: bool) -> str:
    represents = REPRESENTS_UNREAD if unread_only else REPRESENTS
    shown = represents if fold else f"NOT {READ_BY_COPY}" if unread_only else "true"
    if not unread_only:  # what a rule has hidden is read
        shown += f" AND NOT {HIDDEN}"
    parts = {
        "mine": mine,
        "down": "" if oldest_first else "DESC",
        "beyond": beyond,
        "marks": _MARKS if unread_only else "",
        "wanted": f"coalesce(NOT mark.read, {NEW})" if unread_only else "true",
        "shown": shown,
        "new": NEW,
        "arrived": ARRIVED,
    }
    return _LIST.format(**parts, each=each.format(**parts))
