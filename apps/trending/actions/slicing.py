"""Term counts: per posting, per hour, per day from its hours and per month from its days; pruning."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from apps.database.advisory_locks import take
from apps.database.outbox import consume_rows
from apps.database.statements import copy_rows, execute, fetch, fetch_as, fetch_rows
from apps.trending.actions.locks import COUNTING, LISTING, SLICING
from apps.trending.algorithms import slices
from apps.trending.algorithms.terms import fold_of
from apps.trending.queries.slices import sum_of
from apps.trending.queries.texts import Text, texts
from apps.trending.queries.times import DAY, begins, later, start_of

SLICED_AT_ONCE = 200  # stale hours in one transaction


class SliceKey(NamedTuple):
    """A day or a month of a language and a category."""

    language: str
    category: str
    begins_at: datetime


@transaction.atomic
def slice_stale(limit: int = SLICED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Recompute up to `limit` stale hours, their days and months; None if another worker holds the lock.

    Returns the number of stale hours. Slices are recomputed instead of incremented, so that it does not matter how
    often, or in which order, hours become stale.
    """
    if not take(SLICING, wait=wait):
        return None
    stale = fetch_rows(
        "SELECT id, language, category, hour FROM trending_stale ORDER BY hour DESC, id LIMIT %s", [limit]
    )
    hours: dict[SliceKey, set[datetime]] = defaultdict(set)
    for row in stale:
        hours[SliceKey(row.language, row.category, start_of(row.hour, "day"))].add(row.hour)
    for day in _days_to_recompute(hours):
        _slice_day(day, hours.get(day, set()))
    for month in sorted({day._replace(begins_at=start_of(day.begins_at, "month")) for day in hours}):
        _save("month", month, {month.begins_at: slices.merged(_saved("day", month, "month"))})
    execute("DELETE FROM trending_stale WHERE id = ANY(%s)", [[row.id for row in stale]])
    return len(stale)


def _days_to_recompute(hours: Iterable[SliceKey]) -> list[SliceKey]:
    """The days to recompute: stale ones, and those of their months that were deleted.

    Days are only deleted in pruned months.
    """
    days = set(hours)
    for month in {day._replace(begins_at=start_of(day.begins_at, "month")) for day in days}:
        rows = fetch(_DELETED_DAYS, [*month, *month, later(month.begins_at, "month", 1)])
        days |= {month._replace(begins_at=day) for (day,) in rows}
    return sorted(days)


_DELETED_DAYS = """
SELECT DISTINCT date_trunc('day', hour, 'UTC') FROM trending_counted counted
WHERE EXISTS (SELECT FROM trending_slice WHERE step = 'month' AND language = %s AND category = %s AND begins_at = %s
        AND pruned)
    AND language = %s AND category = %s AND hour >= %s AND hour < %s
    AND NOT EXISTS (SELECT FROM trending_slice slice WHERE step = 'day' AND slice.language = counted.language
        AND slice.category = counted.category AND begins_at = date_trunc('day', hour, 'UTC'))
"""


def _slice_day(day: SliceKey, stale: set[datetime]) -> None:
    """Recompute a day from its hours; if some of these were pruned or deleted, recompute all of them."""
    rows = fetch(
        "SELECT count(*) FILTER (WHERE pruned) AS pruned, count(*) AS known FROM trending_slice"
        " WHERE step = 'day' AND language = %s AND category = %s AND begins_at = %s",
        day,
    )
    [(pruned, known)] = rows
    hours = sorted(stale) if known and not pruned else list(begins(day.begins_at, "hour", 24))
    _save("hour", day, _counted_hours(day, hours))
    _save("day", day, {day.begins_at: slices.merged(_saved("hour", day, "day"))})


def _counted_hours(day: SliceKey, hours: Sequence[datetime]) -> dict[datetime, slices.Counts]:
    """The counts of hours; of a source's near-duplicate titles in an hour the first one counts."""
    rows = fetch(
        "SELECT DISTINCT ON (hour, source_id, fold) hour, terms FROM trending_counted"
        " WHERE language = %s AND category = %s AND hour = ANY(%s) ORDER BY hour, source_id, fold, posting_id",
        [day.language, day.category, hours],
    )
    terms = defaultdict(list)
    for hour, packed in rows:
        terms[hour].append(slices.unpack_terms(packed))
    return {hour: slices.counted(terms[hour]) for hour in hours}


def _saved(step: str, key: SliceKey, of: str) -> list[slices.Counts]:
    """The slices within a day or a month."""
    rows = fetch_rows(
        "SELECT documents, terms, counts FROM trending_slice WHERE step = %s AND language = %s AND category = %s"
        " AND begins_at >= %s AND begins_at < %s ORDER BY begins_at",
        [step, *key, later(key.begins_at, of, 1)],
    )
    return [
        slices.Counts(row.documents, slices.unpack_terms(row.terms), slices.unpack_counts(row.counts)) for row in rows
    ]


_FORGET = "DELETE FROM trending_slice WHERE step = %s AND language = %s AND category = %s AND begins_at = ANY(%s)"
_COPY = """
COPY trending_slice (step, language, category, begins_at, documents, terms, counts, pruned) FROM STDIN (FORMAT BINARY)
"""
_TYPES = ["text", "text", "text", "timestamptz", "int4", "bytea", "bytea", "bool"]


def _save(step: str, key: SliceKey, counts: Mapping[datetime, slices.Counts]) -> None:
    """Replace slices by when they begin; those without postings are deleted."""
    place = (step, key.language, key.category)
    execute(_FORGET, [*place, list(counts)])
    rows = (
        (*place, begins_at, each.documents, slices.pack_terms(each.terms), slices.pack_counts(each.counts), False)
        for begins_at, each in counts.items()
        if each.documents
    )
    copy_rows(_COPY, _TYPES, rows)


# --- terms of new, edited and deleted postings, and of changed sources ------------------------------------------------
COUNTED_AT_ONCE = 2_000  # changes in one transaction


class _Counted(NamedTuple):
    """A row of `Counted`."""

    posting_id: int
    source_id: int
    language: str
    category: str
    hour: datetime
    fold: int
    terms: bytes


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
        execute(_UPSERT_COUNTED, [list(column) for column in zip(*changed, strict=True)])
    execute("DELETE FROM trending_counted WHERE posting_id = ANY(%s)", [gone])
    _mark_stale([*changed, *(former[row.posting_id] for row in changed if row.posting_id in former)])
    _mark_stale([former[posting_id] for posting_id in gone])


def _row(text: Text) -> _Counted:
    terms = np.unique(np.array([term.number for term in text.terms()], np.int64))
    return _Counted(
        text.posting_id,
        text.source_id,
        text.language,
        text.category,
        start_of(text.published_at, "hour"),
        fold_of(text.title or text.text, text.language),
        slices.pack_terms(terms),
    )


def _former(posting_ids: Sequence[int]) -> dict[int, _Counted]:
    statement = f"SELECT {', '.join(_Counted._fields)} FROM trending_counted WHERE posting_id = ANY(%s)"
    return {row.posting_id: row for row in fetch_as(_Counted, statement, [posting_ids])}


_UPSERT_COUNTED = f"""
INSERT INTO trending_counted (posting_id, source_id, language, category, hour, fold, terms)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::bigint[], %s::bytea[])
ON CONFLICT (posting_id) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _Counted._fields[1:])}
"""


def _mark_stale(rows: Iterable[_Counted]) -> None:
    hours = sorted({(row.language, row.category, row.hour) for row in rows})
    if hours:
        execute(
            "INSERT INTO trending_stale (language, category, hour)"
            " SELECT * FROM unnest(%s::text[], %s::text[], %s::timestamptz[])",
            [list(column) for column in zip(*hours, strict=True)],
        )


# --- pruning ----------------------------------------------------------------------------------------------------------
HOUR_SLICES_KEPT = timedelta(days=36)  # the day horizon needs four weeks and a window
DAY_SLICES_KEPT = timedelta(days=800)  # the month horizon needs a year and a window
PRUNED_AFTER = timedelta(days=8)  # the week horizon needs exact counts
RARE = 3  # documents of a language around a day or in a month, below which terms are removed
BEFORE, AFTER = timedelta(days=28), timedelta(days=8)  # around a day
LISTS_KEPT = timedelta(days=2)  # of languages and categories without new postings
MAX_DAYS = 40  # per transaction, so that an old archive is pruned over some nights


@transaction.atomic
def prune(now: datetime, *, wait: bool = True) -> bool:
    """Remove rare terms from slices older than 8 days, and delete those no longer needed; False without the locks.

    A term is rare on a day if fewer than 3 documents of its language contain it in the four weeks before and the week
    after, and in a month if fewer than 3 do in all of it. Only the background model loses it, which assumes half a
    document for an unknown term.
    """
    if not take(SLICING, wait=wait) or not take(LISTING, wait=wait):
        return False
    today = start_of(now, "day")
    for language, day in _unpruned("day", today - PRUNED_AFTER, MAX_DAYS):
        frequent = _frequent("day", language, day - BEFORE, day + AFTER)
        _prune_terms("hour", language, day, day + DAY, frequent)
        _prune_terms("day", language, day, day + DAY, frequent)
    for language, month in _unpruned("month", start_of(today - PRUNED_AFTER, "month"), None):
        end = later(month, "month", 1)
        _prune_terms("month", language, month, end, _frequent("month", language, month, end))
    for step, kept in (("hour", HOUR_SLICES_KEPT), ("day", DAY_SLICES_KEPT)):
        # Only pruned slices, since these are always recomputed as a whole.
        execute("DELETE FROM trending_slice WHERE step = %s AND begins_at < %s AND pruned", [step, today - kept])
    execute("DELETE FROM trending_trend WHERE listed_at < %s", [now - LISTS_KEPT])
    return True


def _unpruned(step: str, before: datetime, most: int | None) -> list[tuple[str, datetime]]:
    return fetch(
        "SELECT DISTINCT language, begins_at FROM trending_slice WHERE step = %s AND begins_at < %s AND NOT pruned"
        " ORDER BY begins_at DESC, language LIMIT %s",
        [step, before, most],
    )


def _frequent(step: str, language: str, begin: datetime, end: datetime) -> NDArray[np.int64]:
    counts = sum_of(step, language, "", begin, end)
    return counts.terms[counts.counts >= RARE]


def _prune_terms(step: str, language: str, begin: datetime, end: datetime, kept: NDArray[np.int64]) -> None:
    rows = fetch_rows(
        "SELECT id, documents, terms, counts FROM trending_slice WHERE step = %s AND language = %s"
        " AND begins_at >= %s AND begins_at < %s AND NOT pruned",
        [step, language, begin, end],
    )
    for row in rows:
        left = slices.Counts(row.documents, slices.unpack_terms(row.terms), slices.unpack_counts(row.counts)).only(kept)
        execute(
            "UPDATE trending_slice SET terms = %s, counts = %s, pruned = true WHERE id = %s",
            [slices.pack_terms(left.terms), slices.pack_counts(left.counts), row.id],
        )
