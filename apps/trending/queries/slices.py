"""Slices as arrays."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch, fetch_rows
from apps.trending.algorithms.slices import Counts, merged, unpack_counts, unpack_terms
from apps.trending.queries.times import later

READ_AT_ONCE = 48  # slices, some MB of a large portal

# An empty category stands for all, as in `Trend`.
_OF_LIST = "language = %s AND (%s = '' OR category = %s)"


def slices_of(step: str, language: str, category: str, begin: datetime, end: datetime) -> list[tuple[datetime, Counts]]:
    """The slices that begin in [begin, end), by time; of several categories there are several of a time."""
    rows = fetch_rows(
        f"SELECT begins_at, documents, terms, counts FROM trending_slice WHERE step = %s AND {_OF_LIST}"
        " AND begins_at >= %s AND begins_at < %s ORDER BY begins_at, category",
        [step, language, category, category, begin, end],
    )
    return [(row.begins_at, Counts(row.documents, unpack_terms(row.terms), unpack_counts(row.counts))) for row in rows]


def sum_of(step: str, language: str, category: str, begin: datetime, end: datetime) -> Counts:
    """The counts of [begin, end), which are begins of steps."""
    return merged([counts for _, counts in slices_of(step, language, category, begin, end)])


def history(
    terms: NDArray[np.int64], step: str, language: str, category: str, begin: datetime, steps: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of documents of each step from `begin` on: with each of the terms (steps, n_terms), and of all."""
    counts = np.zeros((steps, len(terms)), np.int64)
    totals = np.zeros(steps, np.int64)
    for first in range(0, steps, READ_AT_ONCE):
        last = min(first + READ_AT_ONCE, steps)
        numbers = {later(begin, step, number): number for number in range(first, last)}
        for begins_at, found in slices_of(
            step, language, category, later(begin, step, first), later(begin, step, last)
        ):
            counts[numbers[begins_at]] += found.of(terms)
            totals[numbers[begins_at]] += found.documents
    return counts, totals


def first_begin(step: str, language: str, category: str) -> datetime | None:
    """The begin of the earliest slice of a language and category."""
    statement = f"SELECT min(begins_at) FROM trending_slice WHERE step = %s AND {_OF_LIST}"
    earliest: datetime | None
    [(earliest,)] = fetch(statement, [step, language, category, category])
    return earliest


def active_places(since: datetime) -> Sequence[tuple[str, str]]:
    """Languages and categories with postings since a time, including the empty category of each language."""
    rows = fetch(
        "SELECT DISTINCT language, category FROM trending_slice"
        " WHERE step = 'hour' AND begins_at >= %s AND language <> ''",
        [since],
    )
    return sorted({(language, category) for language, named in rows for category in (named, "")})
