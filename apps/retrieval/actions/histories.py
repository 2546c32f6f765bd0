"""Publication times of many sources, read from rows into arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.database.statements import query_as
from apps.postings.algorithms.dates import EARLIEST, TOLERANCE
from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.calendar import SLOTS_BEGIN, hours_of
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.learning import PackedProfile, expectations
from apps.retrieval.models import WeeklyProfile
from apps.retrieval.planner.due_times import OBSERVING
from apps.sources.kinds import all_kinds

UNKNOWN = -32_768  # stands for no offset: nulls would make the rows of a binary copy unequal in length
_GRID = 65  # points at which a profile is evaluated between two retrievals

TRUSTED = "claimed_at IS NOT NULL AND claimed_at BETWEEN %(earliest)s AND retrieved_at + %(tolerance)s"
# The postings that each source shows: its own, but those of a crawled site belong to the first page that links to them.
_SHOWN = """
    SELECT source_id AS shown_by_id, published_at, claimed_at, retrieved_at, utc_offset FROM postings_posting
    WHERE source_id = ANY(ARRAY(
        SELECT id FROM sources_source WHERE id = ANY(%(ids)s) AND kind <> ALL(%(crawled)s)))
    UNION ALL
    SELECT page.found_on_id, posting.published_at, posting.claimed_at, page.found_at, posting.utc_offset
    FROM retrieval_page page JOIN postings_posting posting ON posting.id = page.posting_id
    WHERE page.found_on_id = ANY(%(ids)s)"""
_DATED = f"""COPY (
    SELECT shown_by_id, extract(epoch FROM published_at)::float8, coalesce(utc_offset, {UNKNOWN})::int2
    FROM ({_SHOWN}) shown WHERE published_at > %(since)s AND published_at <= %(now)s AND {TRUSTED}
) TO STDOUT (FORMAT binary)"""
# A row of a binary copy: number of columns, then length and value of each; after a header of 19 bytes, before 2 bytes.
_ROW = np.dtype([
    ("columns", ">i2"), ("source_length", ">i4"), ("source", ">i8"), ("epoch_length", ">i4"), ("epoch", ">f8"),
    ("offset_length", ">i4"), ("offset", ">i2"),
])  # fmt: skip
_HEADER, _TRAILER = 19, 2

# Postings without a date were published between the retrieval that showed them first and the one before.
_UNDATED = f"""
SELECT shown_by_id, extract(epoch FROM before)::float8 AS before, extract(epoch FROM retrieved_at)::float8 AS until,
    postings
FROM (
    SELECT shown_by_id, retrieved_at, count(*) AS postings, (
        SELECT max(fetched_at) FROM retrieval_retrieval retrieval
        WHERE retrieval.source_id = shown.shown_by_id AND retrieval.fetched_at < shown.retrieved_at
            AND retrieval.outcome = ANY(%(observing)s)) AS before
    FROM ({_SHOWN}) shown
    WHERE published_at > %(since)s AND retrieved_at <= %(now)s AND ({TRUSTED}) IS NOT TRUE
    GROUP BY shown_by_id, retrieved_at
) undated
WHERE before IS NOT NULL AND before > %(since)s ORDER BY shown_by_id, retrieved_at
"""


class _Undated(NamedTuple):
    """Postings of a source without a date that appeared between two retrievals."""

    shown_by_id: int
    before: float  # s since the epoch
    until: float
    postings: int


@dataclass(frozen=True)
class Histories:
    """The m postings of n sources of one clock rate; times in hours on the sources' own axis."""

    source_ids: IntArray  # (n,), ascending
    owners: IntArray  # (m,), positions in `source_ids`
    utc_times: FloatArray  # (m,)
    times: FloatArray  # (m,), in the local time of each posting
    utc_offsets: IntArray  # (n,), minutes; of each source's latest posting

    def alike(self) -> list[tuple[int, IntArray, Trace]]:
        """The sources grouped by offset: the offset, their positions, and their postings."""
        return [
            (int(offset), positions, self._part(positions))
            for offset in np.unique(self.utc_offsets)
            for positions in [np.flatnonzero(self.utc_offsets == offset)]
        ]

    @property
    def utc_parts(self) -> list[FloatArray]:
        """The times of each source, UTC."""
        order = np.argsort(self.owners, kind="stable")
        ends = np.cumsum(np.bincount(self.owners, minlength=len(self.source_ids)))
        return np.split(self.utc_times[order], ends[:-1])

    def _part(self, positions: IntArray) -> Trace:
        number = np.full(len(self.source_ids), -1)
        number[positions] = np.arange(len(positions))
        owners = number[self.owners]
        times, owners = self.times[owners >= 0], owners[owners >= 0]
        order = np.lexsort((times, owners))
        counts = np.bincount(owners, minlength=len(positions))
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Trace([str(each) for each in self.source_ids[positions]], times[order], starts)


def read(source_ids: Sequence[int], *, clock_rate: float, weeks: float, now: datetime) -> Histories:
    """Read the postings of sources of one clock rate from the last weeks of their own time.

    Only trusted dates count. A posting without one gets a time between the two retrievals between which it appeared,
    at quantiles of the profile known so far; those that the first retrieval showed are left out.
    """
    ids = np.unique(np.array(source_ids, dtype=np.int64))
    values = {
        "ids": ids.tolist(),
        "since": now - timedelta(weeks=weeks) / clock_rate,
        "now": now,
        "earliest": EARLIEST,
        "tolerance": TOLERANCE,
        "observing": list(OBSERVING),
        "crawled": [kind.name for kind in all_kinds().values() if kind.is_crawled],
    }
    rows = _dated_rows(values)
    owners = np.searchsorted(ids, rows["source"].astype(np.int64))
    epochs, claimed = rows["epoch"].astype(np.float64), rows["offset"].astype(np.int64)
    latest = _latest_offsets(ids, owners, epochs, claimed)
    offsets = np.where(claimed == UNKNOWN, latest[owners], claimed)
    spread_owners, spread = _spread(ids, query_as(_Undated, _UNDATED, values), clock_rate)
    owners, times = np.concatenate((owners, spread_owners)), np.concatenate((hours_of(epochs, clock_rate), spread))
    offsets = np.concatenate((offsets, latest[spread_owners]))
    return Histories(ids, owners, times, times + offsets / 60, latest)


def _dated_rows(values: dict[str, Any]) -> NDArray[Any]:
    # The driver's own cursor: Django's takes no values for a copy when it logs statements.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.cursor.copy(_DATED, values) as copy:
        received = b"".join(copy)
    return np.frombuffer(
        received, dtype=_ROW, offset=_HEADER, count=(len(received) - _HEADER - _TRAILER) // _ROW.itemsize
    )


def _latest_offsets(ids: IntArray, owners: IntArray, epochs: FloatArray, claimed: IntArray) -> IntArray:
    """Minutes that each source's local time is ahead of UTC: its latest posting's, else the profile's, else 0."""
    latest = np.zeros(len(ids), dtype=np.int64)
    known = WeeklyProfile.objects.filter(source_id__in=ids.tolist()).values_list("source_id", "utc_offset")
    for source_id, offset in known:
        latest[np.searchsorted(ids, source_id)] = offset
    dated = np.flatnonzero(claimed != UNKNOWN)
    dated = dated[np.argsort(epochs[dated], kind="stable")]
    latest[owners[dated]] = claimed[dated]  # the last assignment to an index stays
    return latest


def _spread(ids: IntArray, undated: Sequence[_Undated], clock_rate: float) -> tuple[IntArray, FloatArray]:
    """Owners and times (UTC) of undated postings, at quantiles of the profile between two retrievals."""
    wanted = {row.shown_by_id for row in undated}
    profiles = WeeklyProfile.objects.filter(source_id__in=wanted).only("hourly", "minutes", "utc_offset")
    cumulated = {
        profile.pk: (
            expectations([PackedProfile(bytes(profile.hourly), bytes(profile.minutes))])[0],
            profile.utc_offset / 60,
        )
        for profile in profiles
    }
    owners, times = [], []
    for row in undated:
        begin, end = hours_of(row.before, clock_rate), hours_of(row.until, clock_rate)
        grid = np.linspace(begin, end, _GRID)
        share = (np.arange(row.postings) + 0.5) / row.postings
        if row.shown_by_id in cumulated:
            week, offset = cumulated[row.shown_by_id]
            expected = _expected(week, grid + offset)
            share = np.interp(share * (expected[-1] - expected[0]), expected - expected[0], np.linspace(0, 1, _GRID))
        owners.append(np.full(row.postings, np.searchsorted(ids, row.shown_by_id)))
        times.append(begin + share * (end - begin))
    if not owners:
        return np.empty(0, dtype=np.int64), np.empty(0)
    return np.concatenate(owners), np.concatenate(times)


def _expected(week: FloatArray, hours: FloatArray) -> FloatArray:
    weeks, phase = np.divmod(hours - SLOTS_BEGIN, 168.0)
    return np.asarray(weeks * week[-1] + np.interp(phase, np.linspace(0, 168.0, week.size), week))
