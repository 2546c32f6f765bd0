"""Bytes that were not transferred, since changes alone were requested, or sent by publishers."""

from datetime import datetime, timedelta

from apps.database.statements import query
from apps.retrieval.models import Retrieval

USUAL = timedelta(days=7)  # whose full responses give the usual size


_SAVED = """
WITH usual AS (
    SELECT source_id, avg(wire_bytes) AS size FROM retrieval_retrieval
    WHERE fetched_at > %(now)s - %(usual)s AND fetched_at <= %(now)s AND status = 200
        AND (%(id)s::bigint IS NULL OR source_id = %(id)s) GROUP BY source_id),
made AS (
    SELECT made.*, greatest(usual.size - wire_bytes, 0) AS less
    FROM retrieval_retrieval made LEFT JOIN usual USING (source_id)
    WHERE fetched_at > %(since)s AND fetched_at <= %(now)s AND (%(id)s::bigint IS NULL OR source_id = %(id)s))
SELECT coalesce(sum(wire_bytes), 0)::bigint AS received,
    coalesce(sum(less) FILTER (WHERE status = 304), 0)::bigint AS conditional,
    coalesce(sum(less) FILTER (WHERE status = 226), 0)::bigint AS delta,
    coalesce(sum(less) FILTER (WHERE outcome = %(pushed)s), 0)::bigint AS push
FROM made
"""


def bytes_saved(since: datetime, now: datetime, source_id: int | None = None) -> dict[str, int]:
    """Of a source or of all, against usual whole answers; one query.

    Bytes `received`, and saved: by `conditional` requests (304 Not Modified), by `delta` (226 IM Used, RFC 3229), and
    by `push`, as what publishers send is smaller than whole feeds.
    """
    values = {"since": since, "now": now, "usual": USUAL, "pushed": Retrieval.Outcome.PUSHED, "id": source_id}
    [saved] = query(_SAVED, values)
    return {name: getattr(saved, name) for name in ("received", "conditional", "delta", "push")}
