"""Counting the terms of new, edited and deleted postings, and of changed sources."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from apps.database.outbox import consume_rows
from apps.database.statements import execute, fetch_as
from apps.trending.actions.locks import COUNTING
from apps.trending.algorithms.slices import pack_terms
from apps.trending.algorithms.terms import fold_of
from apps.trending.queries.texts import Text, texts
from apps.trending.queries.times import begin_of

COUNTED_AT_ONCE = 2_000  # changes in one transaction


class _Row(NamedTuple):
    """A row of `Counted`."""

    posting_id: int
    source_id: int
    language: str
    category: str
    hour: datetime
    fold: int
    terms: bytes

    @property
    def hour_of_place(self) -> tuple[str, str, datetime]:
        return self.language, self.category, self.hour


def count(limit: int = COUNTED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Consume up to `limit` changes; returns their number, or None if another worker holds the lock.

    The former and new hours of the postings become stale in the same transaction, so this is idempotent and crash-safe.
    """
    return consume_rows("trending_outboxrow", _count, lock=COUNTING, limit=limit, wait=wait)


def _count(changes: list[Any]) -> None:
    posting_ids = sorted({change.posting_id for change in changes})
    now = {posting_id: _row(text) for posting_id, text in texts(posting_ids).items()}
    former = _former(posting_ids)
    changed = [row for posting_id, row in now.items() if former.get(posting_id) != row]
    gone = [posting_id for posting_id in former if posting_id not in now]
    if changed:
        execute(_UPSERT, [list(column) for column in zip(*changed, strict=True)])
    execute("DELETE FROM trending_counted WHERE posting_id = ANY(%s)", [gone])
    _note_stale([*changed, *(former[row.posting_id] for row in changed if row.posting_id in former)])
    _note_stale([former[posting_id] for posting_id in gone])


def _row(text: Text) -> _Row:
    terms = np.unique(np.array([term.number for term in text.terms()], np.int64))
    return _Row(
        text.posting_id,
        text.source_id,
        text.language,
        text.category,
        begin_of(text.published_at, "hour"),
        fold_of(text.title or text.text, text.language),
        pack_terms(terms),
    )


def _former(posting_ids: Sequence[int]) -> dict[int, _Row]:
    statement = f"SELECT {', '.join(_Row._fields)} FROM trending_counted WHERE posting_id = ANY(%s)"
    return {row.posting_id: row for row in fetch_as(_Row, statement, [posting_ids])}


_UPSERT = f"""
INSERT INTO trending_counted (posting_id, source_id, language, category, hour, fold, terms)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::bigint[], %s::bytea[])
ON CONFLICT (posting_id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _Row._fields[1:])}
"""


def _note_stale(rows: Iterable[_Row]) -> None:
    hours = sorted({row.hour_of_place for row in rows})
    if hours:
        execute(
            "INSERT INTO trending_stale (language, category, hour)"
            " SELECT * FROM unnest(%s::text[], %s::text[], %s::timestamptz[])",
            [list(column) for column in zip(*hours, strict=True)],
        )
