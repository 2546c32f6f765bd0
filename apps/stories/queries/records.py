"""Statistics of sources over the last four weeks."""

from datetime import datetime, timedelta

from django.db import connection

from apps.database.statements import rows_of
from apps.stories.algorithms.authority import Record

PERIOD = timedelta(days=28)

# `later`: number of the story's other sources that came after this one.
_RECORDS = """
WITH share AS (
    SELECT story_id, source_id, min(published_at) AS first_at, count(*) AS reports,
        count(*) FILTER (WHERE copy_of IS NULL) AS originals
    FROM stories_member WHERE published_at > %(since)s GROUP BY story_id, source_id
), placed AS (
    SELECT *, rank() OVER (PARTITION BY story_id ORDER BY first_at DESC) - 1 AS later,
        count(*) OVER (PARTITION BY story_id) AS sources, sum(originals) OVER (PARTITION BY story_id) AS of_all
    FROM share
), grouped AS (
    SELECT source_id, sum(reports) FILTER (WHERE sources > 1) AS in_stories, sum(reports - originals) AS copies,
        sum(originals * (of_all - originals)) AS importance,
        avg(later::float8 / (sources - 1)) FILTER (WHERE sources > 1) AS earliness
    FROM placed GROUP BY source_id
), published AS (
    SELECT source_id, count(*) AS reports FROM postings_posting WHERE published_at > %(since)s GROUP BY source_id
), starred AS (
    SELECT source_id, count(*) AS stars FROM following_mark mark
    JOIN postings_posting posting ON posting.id = mark.posting_id
    WHERE starred_at > %(since)s GROUP BY source_id
), opened AS (
    SELECT source_id, count(*) AS reads FROM stories_reaction reaction
    JOIN postings_posting posting ON posting.id = reaction.posting_id
    WHERE opened_at > %(since)s GROUP BY source_id
)
SELECT source_id, published.reports, coalesce(in_stories, 0)::int AS in_stories,
    coalesce(importance, 0)::float8 AS importance, coalesce(earliness, 0.5) AS earliness,
    greatest(published.reports - coalesce(copies, 0), 0)::int AS originals,
    coalesce(stars, 0) AS stars, coalesce(reads, 0) AS reads
FROM published LEFT JOIN grouped USING (source_id)
    LEFT JOIN starred USING (source_id) LEFT JOIN opened USING (source_id)
"""


def records(now: datetime) -> dict[int, Record]:
    """The record of each source with postings. One slow query, for the night."""
    with connection.cursor() as cursor:
        cursor.execute(_RECORDS, {"since": now - PERIOD})
        rows = [row._asdict() for row in rows_of(cursor)]
    return {row.pop("source_id"): Record(**row) for row in rows}
