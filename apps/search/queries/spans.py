"""Spans of all postings with about equal work, in the order of their documents, then those without a document.

In this order newer postings stay newer when they are indexed again, as far as parallel workers allow.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.database.statements import fetch, fetch_rows
from apps.jobs.kinds import Piece
from apps.jobs.models import Job

KIND = "index"  # of jobs
MAX_POSTINGS = 8_000  # per span, for postings of equal length
MIN_POSTINGS, SPANS = 500, 16  # a small archive has this number of spans to occupy workers, unless they get smaller


_DOCUMENTS = """
WITH alive AS (
    SELECT number, (octet_length(sequence) + octet_length(pairs)) / 4 + 10 AS size FROM search_document WHERE NOT dead
), placed AS (
    SELECT number, size, floor((sum(size) OVER (ORDER BY number) - size) * %s / sum(size) OVER ()) AS place FROM alive
)
SELECT min(number) AS first, max(number) AS last, count(*) AS postings, sum(size)::float8 AS words
FROM placed GROUP BY place ORDER BY first
"""
# Six letters to a word.
_POSTINGS = """
WITH unread AS (
    SELECT id, published_at, (octet_length(title) + octet_length(text)) / 6 + 10 AS size FROM postings_posting posting
    WHERE NOT EXISTS (SELECT FROM search_document document WHERE document.posting_id = posting.id AND NOT dead)
), placed AS (
    SELECT id, published_at, size,
        floor((sum(size) OVER (ORDER BY published_at, id) - size) * %s / sum(size) OVER ()) AS place
    FROM unread
)
SELECT min(published_at) AS begins_at, (array_agg(id ORDER BY published_at, id))[1] AS first,
    max(published_at) AS ends_at, (array_agg(id ORDER BY published_at DESC, id DESC))[1] AS last,
    count(*) AS postings, sum(size)::float8 AS words
FROM placed GROUP BY place ORDER BY begins_at, first
"""


def spans() -> Iterator[Piece]:
    """Spans of documents by number, or of postings without one by publication and id; both ends are included."""
    [(documents,)] = fetch("SELECT count(*) FROM search_document WHERE NOT dead")
    [(postings,)] = fetch("SELECT count(*) FROM postings_posting")
    every = max(documents, postings)
    for row in fetch_rows(_DOCUMENTS, [_parts(documents, every)]):
        yield Piece({"first": [row.first], "last": [row.last]}, row.postings, row.words)
    for row in fetch_rows(_POSTINGS, [_parts(postings - documents, every)]):
        ends = {"first": [row.begins_at.isoformat(), row.first], "last": [row.ends_at.isoformat(), row.last]}
        yield Piece(ends, row.postings, row.words)


def _parts(count: int, every: int) -> int:
    most = min(MAX_POSTINGS, max(MIN_POSTINGS, every // SPANS))
    return max(1, -(-count // most))


_IN_DOCUMENTS = """
SELECT number, posting_id FROM search_document WHERE number BETWEEN %s AND %s AND NOT dead ORDER BY number
"""
IN_POSTINGS = """
SELECT NULL::int, id FROM postings_posting posting
WHERE (published_at, id) >= (%s::timestamptz, %s::bigint) AND (published_at, id) <= (%s::timestamptz, %s::bigint)
    AND (SELECT number FROM search_document document WHERE document.posting_id = posting.id AND NOT dead) IS NULL
ORDER BY published_at, id
"""  # a value, no join: Postgres expects a large part of the archive in a span, and would read all documents for each


def in_span(span: Mapping[str, Any]) -> list[tuple[int | None, int]]:
    """Document number, or None, and posting id of each posting in a span, in order."""
    statement = _IN_DOCUMENTS if len(span["first"]) == 1 else IN_POSTINGS
    return fetch(statement, [*span["first"], *span["last"]])


def is_reindexing() -> bool:
    """Whether a job that indexes all postings is running."""
    return Job.objects.filter(kind=KIND, state=Job.State.RUNNING).exists()
