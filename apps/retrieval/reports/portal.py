"""The share of each source in all retrievals."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.database.statements import query, query_as
from apps.retrieval.planner.state import TABLES, WORTH
from apps.retrieval.queries import UNREQUESTED

RECENT = timedelta(hours=24)
SORTS = {
    "retrievals": "retrievals DESC, source.id",
    "postings": "profile.weekly DESC NULLS LAST, source.id",
    "worth": "worth DESC, source.id",
    "delay": "mean_delay DESC NULLS LAST, source.id",
    "next": "coalesce(schedule.first_due_at, schedule.due_at), source.id",
    "source": "lower(source.title), source.id",
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one source gets."""

    source_id: int
    name: str
    retrievals: int  # of the last 24 hours
    weekly: float | None  # postings expected a week; None while no profile is known
    worth: float
    mean_delay: float | None  # s of its own time, of the last 24 hours
    due_at: datetime  # for the first time, while it is under way


# Of a private source only the host, without the secret behind it.
ADDRESS = "CASE WHEN source.listed THEN source.url ELSE substring(source.url from '^https?://([^/?#]*)') END"


class Shares:
    """Sources with a due time, sorted: one query counts them, one reads some of them."""

    def __init__(self, words: str, sort: str, now: datetime) -> None:
        self._order = SORTS[sort]
        self._values = {"now": now, "since": now - RECENT, "unasked": list(UNREQUESTED), "words": words.split()[:10]}
        self._where = f"""schedule.due_at IS NOT NULL AND NOT EXISTS (
            SELECT FROM unnest(%(words)s::text[]) word
            WHERE strpos(lower(source.title || ' ' || {ADDRESS}), lower(word)) = 0)"""

    def count(self) -> int:
        [(count,)] = query(f"SELECT count(*) FROM {TABLES} WHERE {self._where}", self._values)
        return int(count)

    def read(self, start: int, end: int) -> list[Share]:
        return query_as(
            Share,
            f"""
            WITH made AS (
                SELECT source_id, count(*) FILTER (WHERE outcome <> ALL(%(unasked)s)) AS retrievals,
                    sum(delay_seconds) / nullif(sum(dated), 0) AS mean_delay
                FROM retrieval_retrieval WHERE fetched_at > %(since)s AND fetched_at <= %(now)s GROUP BY source_id
            )
            SELECT source.id AS source_id, coalesce(nullif(source.title, ''), {ADDRESS}) AS name,
                coalesce(made.retrievals, 0) AS retrievals, profile.weekly, {WORTH} AS worth, made.mean_delay,
                coalesce(schedule.first_due_at, schedule.due_at) AS due_at
            FROM {TABLES} LEFT JOIN made ON made.source_id = source.id
            WHERE {self._where} ORDER BY {self._order} LIMIT %(limit)s OFFSET %(offset)s
            """,
            self._values | {"offset": start, "limit": end - start},
        )
