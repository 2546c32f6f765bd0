"""Postings of a window as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from apps.database.statements import fetch_rows
from apps.trending.algorithms.documents import Documents, gather
from apps.trending.algorithms.slices import unpack_terms
from apps.trending.queries.times import HOUR, begins

MAX_DOCUMENTS = 20_000  # of a window; beyond that, a sample of hours is read


@dataclass(frozen=True, slots=True)
class Postings:
    ids: Sequence[int]  # by time
    documents: Documents


def postings_of(language: str, category: str, begin: datetime, end: datetime, total: int) -> Postings:
    """Postings of [begin, end), which are begins of hours with `total` postings; if these are many, a sample of hours.

    The sample depends only on the hours and its size.
    """
    hours = list(begins(begin, "hour", (end - begin) // HOUR))
    every = -(-max(total, 1) // MAX_DOCUMENTS)
    if every > 1:
        hours = [hour for hour in hours if crc32(hour.isoformat().encode()) % every == 0]
    rows = fetch_rows(
        "SELECT posting_id, source_id, terms FROM ("
        "SELECT DISTINCT ON (source_id, fold) posting_id, source_id, terms, hour FROM trending_counted"
        " WHERE language = %s AND (%s = '' OR category = %s) AND hour = ANY(%s)"
        " ORDER BY source_id, fold, posting_id) folded ORDER BY hour, posting_id",
        [language, category, category, hours],
    )
    documents = gather([unpack_terms(row.terms) for row in rows], [row.source_id for row in rows])
    return Postings([row.posting_id for row in rows], documents)
