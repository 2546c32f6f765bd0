"""Slices as arrays."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.database.statements import fetch, fetch_rows
from apps.trending.algorithms.slices import Counts, merged, pack_terms, unpack_counts, unpack_terms
from apps.trending.queries.times import begins, later, start_of

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


_NUMBERS = 2.0**64  # that a term can have, half of them below 0


# --- frequencies of any terms over time -------------------------------------------------------------------------------
class Curve(NamedTuple):
    """Documents of a term in each step."""

    begins: tuple[datetime, ...]
    documents: tuple[int, ...]


# Searches the arrays in the database: a slice is some hundred kB in a large portal, and only the four bytes of a count
# are sent. Since the numbers of terms are hashes, the position in the ascending array is about known: of n terms, a
# number above the share p of all numbers is at n p, with a standard deviation of sqrt(n p (1 - p)). One in 400 billion
# is more than seven of these away. A match that is not at a multiple of eight bytes is no number.
_CURVES = """
SELECT packed, begins_at, sum(documents) AS documents FROM (
    SELECT packed, begins_at, CASE WHEN place %% 8 = 1
        THEN ('x' || encode(substring(counts FROM (first + (place - 1) / 8) * 4 + 1 FOR 4), 'hex'))::bit(32)::int
        ELSE 0 END documents
    FROM trending_slice CROSS JOIN unnest(%s::bytea[], %s::float8[]) wanted(packed, share)
        CROSS JOIN LATERAL (SELECT length(terms) / 8 size) sized
        CROSS JOIN LATERAL (SELECT size * share middle, 16 + 7 * sqrt(size * share * (1 - share)) around) about
        CROSS JOIN LATERAL (
            SELECT greatest(floor(middle - around), 0)::int first, ceil(middle + around)::int behind
        ) ends
        CROSS JOIN LATERAL (
            SELECT position(packed IN substring(terms FROM first * 8 + 1 FOR (behind - first) * 8)) place
        ) found
    WHERE step = %s AND language = %s AND (%s = '' OR category = %s) AND begins_at >= %s AND begins_at <= %s
) steps GROUP BY packed, begins_at
"""


def curves_of(
    numbers: Sequence[int], step: str, language: str, category: str, now: datetime, steps: int
) -> dict[int, Curve]:
    """The curves of terms over the last steps up to now; one query."""
    last = start_of(now, step)
    first = later(last, step, 1 - steps)
    times = tuple(begins(first, step, steps))
    packed = {pack_terms(np.array([number], np.int64)): number for number in numbers}
    shares = [(number + _NUMBERS / 2) / _NUMBERS for number in packed.values()]
    rows = fetch_rows(_CURVES, [list(packed), shares, step, language, category, category, first, last])
    found = {(packed[bytes(row.packed)], row.begins_at): int(row.documents) for row in rows}
    return {number: Curve(times, tuple(found.get((number, time), 0) for time in times)) for number in numbers}
