"""Reads of the percolator: new postings, their candidate searches, and views of users."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from apps.alerts.algorithms.percolator.documents import FOLDER, DocumentView, Reading, read
from apps.alerts.algorithms.percolator.languages import group_of
from apps.database.statements import fetch_as, fetch_rows
from apps.search.queries.resolving import host_of

_POSTINGS = """
SELECT posting.id, posting.title, text, coalesce(nullif(posting.language, ''), source.language) AS language, author,
    categories, published_at, source_id, source.title AS source_title, source.url, source.category,
    ARRAY(SELECT DISTINCT title FROM following_follow follow
        WHERE follow.source_id = source.id AND title <> '') AS own_titles
FROM postings_posting posting JOIN sources_source source ON source.id = source_id
WHERE posting.id = ANY(%s) ORDER BY posting.id
"""

# The folders of index terms, each with all that is inside of it, and those of the sources that are filed there.
_FILED = f"""
WITH RECURSIVE inside AS (
    SELECT folder.id AS folder_id, folder.id AS inner_id FROM following_folder folder WHERE id IN (
        SELECT substr(term, {len(FOLDER) + 1})::bigint FROM alerts_queryterm
        WHERE term >= '{FOLDER}' COLLATE "C" AND term < '{FOLDER}:' COLLATE "C")
    UNION SELECT folder_id, child.id FROM inside JOIN following_folder child ON child.parent_id = inner_id
)
SELECT source_id, array_agg(DISTINCT inside.folder_id) AS folder_ids
FROM inside JOIN following_follow_folders filed ON filed.folder_id = inner_id
JOIN following_follow follow ON follow.id = follow_id WHERE source_id = ANY(%s) GROUP BY source_id
"""


def readings(posting_ids: Collection[int]) -> dict[int, Reading]:
    """Existing postings, analysed. Two queries."""
    rows = fetch_rows(_POSTINGS, [list(posting_ids)])
    filed = {row.source_id: row.folder_ids for row in fetch_rows(_FILED, [sorted({row.source_id for row in rows})])}
    return {
        row.id: read(
            row.title,
            row.text,
            declared_language=row.language,
            source_id=row.source_id,
            source_names=[row.source_title, host_of(row.url)],
            own_names=row.own_titles,
            folder_ids=filed.get(row.source_id, ()),
            categories=[row.category, *row.categories],
            author=row.author,
            published_at=row.published_at,
        )
        for row in rows
    }


class Candidate(NamedTuple):
    posting_id: int
    saved_id: int
    user_id: int
    exact: bool  # a match without verification


# Most rows have one term beside; a hash lookup is faster than an array for it.
_CANDIDATES = """
WITH wanted AS MATERIALIZED (
    SELECT posting_id, term FROM unnest(%s::bigint[], %s::text[]) wanted (posting_id, term)
), posting AS MATERIALIZED (
    SELECT posting_id, language, array_agg(term COLLATE "C") AS terms
    FROM unnest(%s::bigint[], %s::bigint[]) posting (posting_id, language) JOIN wanted USING (posting_id)
    GROUP BY posting_id, language
)
SELECT posting_id, saved_id, user_id, bool_or(exact) AS exact
FROM posting JOIN wanted USING (posting_id) JOIN alerts_queryterm indexed ON indexed.term = wanted.term COLLATE "C"
WHERE languages & language <> 0
    AND (beside = '{}' OR (posting_id, beside[1]) IN (SELECT posting_id, term FROM wanted))
    AND (cardinality(beside) < 2 OR beside <@ terms)
GROUP BY posting_id, saved_id, user_id
"""


_INDEXED = "SELECT term, beside FROM alerts_queryterm LIMIT %s"


def candidates(postings: Mapping[int, Reading]) -> list[Candidate]:
    """The searches that the postings may match. At most two queries for all."""
    pairs = [(id, term) for id, posting in postings.items() for term in posting.terms]
    most = len(pairs) // 4  # beyond, reading the terms of all searches takes longer than sending those of the postings
    rows = fetch_rows(_INDEXED, [most + 1])
    if len(rows) <= most:
        indexed = {term for row in rows for term in (row.term, *row.beside)}
        pairs = [pair for pair in pairs if pair[1] in indexed]
        if not pairs:
            return []
    languages = [1 << group_of(posting.language) for posting in postings.values()]
    values = [[id for id, _ in pairs], [term for _, term in pairs], list(postings), languages]
    return fetch_as(Candidate, _CANDIDATES, values)


_SEARCHES = """
SELECT saved_id, percolated.query, time_zone
FROM alerts_percolatorquery percolated JOIN search_savedsearch saved ON saved.id = saved_id
JOIN accounts_user ON accounts_user.id = user_id WHERE saved_id = ANY(%s)
"""


def searches_of(saved_ids: Collection[int]) -> dict[int, Any]:
    """Rows with `query` and `time_zone` by search."""
    return {row.saved_id: row for row in fetch_rows(_SEARCHES, [list(saved_ids)])}


_FOLLOWS = """
SELECT user_id, source_id, title, unread_from, read_through, ARRAY(
    WITH RECURSIVE around AS (
        SELECT folder.id, name, parent_id FROM following_folder folder
        JOIN following_follow_folders filed ON filed.folder_id = folder.id WHERE filed.follow_id = follow.id
        UNION SELECT folder.id, folder.name, folder.parent_id FROM around
        JOIN following_folder folder ON folder.id = around.parent_id
    ) SELECT id || ' ' || name FROM around
) AS folders
FROM following_follow follow WHERE user_id = ANY(%s) AND source_id = ANY(%s)
"""
_MARKS = """
SELECT user_id, posting_id, read, starred_at IS NOT NULL AS is_starred FROM following_mark
WHERE user_id = ANY(%s) AND posting_id = ANY(%s)
"""


class DocumentViews:
    """Views of postings by the owners of personal searches. Two queries, none without users."""

    def __init__(self, user_ids: Sequence[int], postings: Mapping[int, Reading]) -> None:
        if not user_ids:
            return
        sources = sorted({posting.source_id for posting in postings.values()})
        follows = fetch_rows(_FOLLOWS, [list(user_ids), sources])
        self._follows = {(row.user_id, row.source_id): row for row in follows}
        marks = fetch_rows(_MARKS, [list(user_ids), list(postings)])
        self._marks = {(row.user_id, row.posting_id): row for row in marks}

    def of(self, user_id: int, posting_id: int, posting: Reading) -> DocumentView:
        follow = self._follows.get((user_id, posting.source_id))
        mark = self._marks.get((user_id, posting_id))
        is_read = mark.read if mark else None
        if is_read is None:
            is_read = follow is None or posting.published_at < follow.unread_from or posting_id <= follow.read_through
        is_starred = mark is not None and mark.is_starred
        folders = [folder.split(" ", 1) for folder in follow.folders] if follow else []
        return DocumentView(
            follow.title if follow else "",
            unread=not is_read,
            starred=is_starred,
            followed=follow is not None,
            folders=tuple((int(number), name) for number, name in folders),
        )
