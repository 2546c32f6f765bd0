"""Pruning: removes rare terms from old slices, and deletes old hours and days."""

from datetime import datetime, timedelta

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from apps.database.advisory_locks import take
from apps.database.statements import execute, fetch, fetch_rows
from apps.trending.actions.locks import LISTING, SLICING
from apps.trending.algorithms.slices import Counts, pack_counts, pack_terms, unpack_counts, unpack_terms
from apps.trending.queries.slices import sum_of
from apps.trending.queries.times import DAY, begin_of, later

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
    after, and in a month if fewer than 3 do in all of it. Only the background loses it, which expects half a document
    of an unknown term.
    """
    if not take(SLICING, wait=wait) or not take(LISTING, wait=wait):
        return False
    today = begin_of(now, "day")
    for language, day in _unpruned("day", today - PRUNED_AFTER, MAX_DAYS):
        frequent = _frequent("day", language, day - BEFORE, day + AFTER)
        _take_out("hour", language, day, day + DAY, frequent)
        _take_out("day", language, day, day + DAY, frequent)
    for language, month in _unpruned("month", begin_of(today - PRUNED_AFTER, "month"), None):
        end = later(month, "month", 1)
        _take_out("month", language, month, end, _frequent("month", language, month, end))
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


def _take_out(step: str, language: str, begin: datetime, end: datetime, kept: NDArray[np.int64]) -> None:
    rows = fetch_rows(
        "SELECT id, documents, terms, counts FROM trending_slice WHERE step = %s AND language = %s"
        " AND begins_at >= %s AND begins_at < %s AND NOT pruned",
        [step, language, begin, end],
    )
    for row in rows:
        left = Counts(row.documents, unpack_terms(row.terms), unpack_counts(row.counts)).only(kept)
        execute(
            "UPDATE trending_slice SET terms = %s, counts = %s, pruned = true WHERE id = %s",
            [pack_terms(left.terms), pack_counts(left.counts), row.id],
        )
