"""Frequencies of any terms over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from apps.database.statements import fetch_rows
from apps.trending.algorithms.slices import pack_terms
from apps.trending.queries.times import begin_of, begins, later

_NUMBERS = 2.0**64  # that a term can have, half of them below 0


@dataclass(frozen=True, slots=True)
class Curve:
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
    last = begin_of(now, step)
    first = later(last, step, 1 - steps)
    times = tuple(begins(first, step, steps))
    packed = {pack_terms(np.array([number], np.int64)): number for number in numbers}
    shares = [(number + _NUMBERS / 2) / _NUMBERS for number in packed.values()]
    rows = fetch_rows(_CURVES, [list(packed), shares, step, language, category, category, first, last])
    found = {(packed[bytes(row.packed)], row.begins_at): int(row.documents) for row in rows}
    return {number: Curve(times, tuple(found.get((number, time), 0) for time in times)) for number in numbers}
