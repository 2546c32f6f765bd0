"""The schedule state of a source: what planning reads from its rows, by one list of columns."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any

import numpy as np
from django.conf import settings

from apps.retrieval.algorithms.calendar import epoch_of, hours_of
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.weekly_profiles.learning import PackedProfile

# The worth of a posting of a source: weight by an admin, times relevance to saved searches, times readers.
WORTH_AT_WEIGHT_1 = """source.interest * greatest(1, (source.listed OR source.always_retrieved)::int
    + (SELECT count(*) FROM following_follow follow WHERE follow.source_id = coalesce(source.site_id, source.id)))"""
WORTH = f"source.weight * {WORTH_AT_WEIGHT_1}"

# The cost of a retrieval: one request, or the kilobytes of the source's usual response.
HEADERS = 300  # bytes of a response without a body, such as a 304
UNKNOWN = 10_000  # bytes of a response, assumed for a source that was never retrieved
COST = f"""CASE WHEN (SELECT counted FROM retrieval_plan) = 'bytes'
    THEN coalesce(schedule.answer_bytes, {UNKNOWN}) / 1000 ELSE 1 END"""

# The names of columns are those of `ScheduleState.of`.
COLUMNS = f"""source.id AS source_id, source.clock_rate, coalesce(source.min_gap, %(min_gap)s)::float8 AS min_gap,
    {WORTH} AS worth, ({COST})::float8 AS cost, schedule.observed_at, schedule.earliest_at,
    schedule.activity_seen, schedule.activity_expected,
    coalesce(profile.hourly, '') AS hourly, coalesce(profile.minutes, '') AS minutes,
    coalesce(profile.root_mass, 0) AS root_mass, coalesce(profile.utc_offset, 0) AS utc_offset, profile."window",
    coalesce(profile.timetable, '') AS timetable, coalesce(profile.period, 0) AS period,
    coalesce(profile.chances, '') AS chances, source.kind, schedule.pushed_until"""
TABLES = """retrieval_schedule schedule JOIN sources_source source ON source.id = schedule.source_id
    LEFT JOIN retrieval_weeklyprofile profile ON profile.source_id = source.id"""


def parameters(**others: Any) -> dict[str, Any]:
    """Parameters of a statement with COLUMNS."""
    return {"min_gap": settings.RETRIEVAL_MIN_GAP} | others


@dataclass(frozen=True, slots=True)
class ScheduleState:
    source_id: int
    clock_rate: float
    min_gap: float  # s of the source
    worth: float
    observed_at: datetime | None
    earliest_at: datetime | None
    activity: Activity
    hourly: bytes  # the packed profile; empty before one is learned
    minutes: bytes
    root_mass: float
    utc_offset: int  # minutes
    window: int | None
    timetable: bytes
    period: float  # h, of the timetable
    chances: bytes  # of an update at each time of the timetable; empty where its policy computes none
    kind: str
    pushed_until: datetime | None  # until then its publisher pushes its updates, or notices of them
    cost: float = 1.0  # of a retrieval, in units of the budget

    @classmethod
    def of(cls, *, activity_seen: float, activity_expected: float, **columns: Any) -> "ScheduleState":
        """From the columns of a row with COLUMNS."""
        return cls(activity=Activity(activity_seen, activity_expected), **columns)

    def is_announced(self, at: datetime) -> bool:
        """Whether its updates are pushed at a given time."""
        return self.pushed_until is not None and at < self.pushed_until

    @property
    def profile(self) -> PackedProfile:
        return PackedProfile(self.hourly, self.minutes)

    @property
    def spending(self) -> float:
        """What its retrievals take of the budget of real time, up to a factor that is the same for all sources."""
        return self.root_mass * sqrt(self.worth * self.cost) * self.clock_rate

    @property
    def unpacked_timetable(self) -> Timetable:
        return Timetable(np.frombuffer(self.timetable, dtype="<f8"), self.period)

    def local_hours(self, at: datetime) -> float:
        """A time on the source's own axis, in its local time."""
        return float(hours_of(at.timestamp(), self.clock_rate)) + self.utc_offset / 60

    def moment(self, local_hours: float) -> datetime:
        """The inverse of `local_hours`."""
        return datetime.fromtimestamp(epoch_of(local_hours - self.utc_offset / 60, self.clock_rate), UTC)

    @property
    def earliest(self) -> datetime | None:
        """When both allow the next retrieval; None before any response."""
        return self.observed_at and self.observed_at + timedelta(hours=self.least / self.clock_rate)

    @property
    def least(self) -> float:
        """The shortest gap in the source's own hours, by its latest response and general politeness."""
        usual = self.min_gap / 3600
        if self.observed_at is None or self.earliest_at is None:
            return usual
        return max(usual, (self.earliest_at - self.observed_at).total_seconds() * self.clock_rate / 3600)
