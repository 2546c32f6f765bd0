"""Which postings expire, how many there will be, and their size."""

from collections.abc import Collection, Sequence
from datetime import datetime

from apps.database.sizes import Size
from apps.database.statements import query
from apps.postings.models import Posting
from apps.sources.queries import KEPT_DAYS

CONTENTS = ("postings_posting", "search_document", "search_generation", "search_row", "stories_member")
SAMPLE = 20_000  # postings of a sample
RATE_DAYS = 14  # over which the rate of new postings is measured

NOT_KEPT = """
    NOT EXISTS (SELECT FROM following_mark mark WHERE mark.posting_id = posting.id AND mark.starred_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM following_note note WHERE note.posting_id = posting.id)
    AND NOT EXISTS (SELECT FROM following_highlight highlight WHERE highlight.posting_id = posting.id)
"""
# A posting that its source still shows would be stored again as a new one. Of those without a date of their own as many
# are kept as its latest document had items; the others are recognized as too old, unless it was the quota's decision.
_NOT_SHOWN = """
    (coalesce(profile."window", 0) = 0 OR EXISTS (
        SELECT FROM postings_posting newer WHERE newer.source_id = posting.source_id {of_same_kind}
            AND (newer.published_at, newer.id) > (posting.published_at, posting.id)
        OFFSET profile."window" - 1))
"""
_EXPIRED = f"""
SELECT source.id AS source_id, posting.id FROM (
    SELECT source.id, {KEPT_DAYS} AS days FROM sources_source source WHERE id >= %(after)s OFFSET 0
) source
LEFT JOIN retrieval_weeklyprofile profile ON profile.source_id = source.id
CROSS JOIN LATERAL (
    SELECT id FROM postings_posting posting
    WHERE posting.source_id = source.id AND published_at < %(now)s - make_interval(days => source.days) AND {NOT_KEPT}
        AND (posting.claimed_at IS NOT NULL OR {_NOT_SHOWN.format(of_same_kind="AND newer.claimed_at IS NULL")})
    ORDER BY published_at LIMIT %(batch)s
) posting
WHERE source.days IS NOT NULL ORDER BY source.id LIMIT %(batch)s
"""
_OLDEST = f"""
SELECT posting.id FROM postings_posting posting
LEFT JOIN retrieval_weeklyprofile profile ON profile.source_id = posting.source_id
WHERE posting.id > %(after)s AND {NOT_KEPT} AND {_NOT_SHOWN.format(of_same_kind="")}
ORDER BY posting.id LIMIT %(batch)s
"""
_EXPECTED = f"""
SELECT horizon, 100 / %(percent)s * sum(
    (days IS NULL OR published_at >= %(now)s + make_interval(days => horizon - days) OR NOT ({NOT_KEPT}))::int
    + CASE WHEN published_at > %(now)s - make_interval(days => least(%(rate_days)s, days))
        THEN least(horizon, days)::float8 / least(%(rate_days)s, days) ELSE 0 END) AS postings
FROM (
    SELECT posting.id, published_at, {KEPT_DAYS} AS days
    FROM postings_posting posting TABLESAMPLE SYSTEM (%(percent)s)
    JOIN sources_source source ON source.id = posting.source_id
) posting, unnest(%(horizons)s::int[]) horizon GROUP BY horizon ORDER BY horizon
"""
# Bytes of rows without free space, by the stored width of a sample.
_LIVE = """
SELECT greatest(0, pg_stat_get_live_tuples('postings_posting'::regclass))::float8 AS rows,
    coalesce(avg({width}), 0)::float8 AS width FROM postings_posting TABLESAMPLE SYSTEM (%(percent)s)
"""
_COLUMNS = [field.column for field in Posting._meta.concrete_fields]
_WIDTH = " + ".join(f"coalesce(pg_column_size({column}), 0)" for column in _COLUMNS)
ROW_HEADER = 32  # bytes, with its place in the page and padding


def expired(after: int, batch: int, now: datetime) -> tuple[list[int], int]:
    """Some expired postings of sources from `after` on, and the last of these sources."""
    rows = query(_EXPIRED, {"after": after, "batch": batch, "now": now})
    return [row.id for row in rows], rows[-1].source_id if rows else after


def oldest(after: int, batch: int) -> list[int]:
    """Some postings in the order in which they were stored, without those that must stay."""
    return [id for (id,) in query(_OLDEST, {"after": after, "batch": batch})]


def postings_expected(now: datetime, horizons: Collection[int]) -> dict[int, float]:
    """How many postings there will be in some days, at the present rates and rules; estimated from a sample."""
    values = {"now": now, "horizons": list(horizons), "percent": _percent(SAMPLE), "rate_days": RATE_DAYS}
    return dict.fromkeys(horizons, 0.0) | dict(query(_EXPECTED, values))


def bytes_per_posting(found: Sequence[Size]) -> float | None:
    """The size of a posting with all data derived from it; None without postings."""
    rows = next((size.rows for size in found if size.table == "postings_posting"), 0)
    return _contents(found) / rows if rows else None


def live_bytes(found: Sequence[Size]) -> tuple[float, float]:
    """The bytes of all tables without free space in those of postings and derived data, and the bytes per posting.

    Files of Postgres do not shrink when rows are deleted, so their size would never fall below a quota.
    """
    [live] = query(_LIVE.format(width=_WIDTH), {"percent": _percent(1_000)})
    heap = next(size.bytes for size in found if size.table == "postings_posting")
    share = live.rows * (live.width + ROW_HEADER) / heap if heap else 1.0
    contents = share * _contents(found)
    return sum(size.total for size in found if size.table not in CONTENTS) + contents, contents / max(live.rows, 1.0)


def _contents(found: Sequence[Size]) -> float:
    return sum(size.total for size in found if size.table in CONTENTS)


def _percent(sample: int) -> float:
    [(rows,)] = query("SELECT reltuples FROM pg_class WHERE oid = 'postings_posting'::regclass")
    return 100.0 * min(1.0, sample / max(float(rows), 1.0))
