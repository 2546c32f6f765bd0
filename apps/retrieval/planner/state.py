"""What rows remember of a source, as planning needs it: one list of columns for all who read them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.weekly_profiles.packing import PackedProfile

# What a posting of a source is worth: what an admin says, what standing questions add, how many people it reaches.
WORTH_AT_WEIGHT_1 = """source.interest * greatest(1, (source.listed OR source.always_retrieved)::int
    + (SELECT count(*) FROM following_follow follow WHERE follow.source_id = coalesce(source.site_id, source.id)))"""
WORTH = f"source.weight * {WORTH_AT_WEIGHT_1}"

# The names of columns are those of `ScheduleState.of`.
COLUMNS = f"""source.id AS source_id, source.clock_rate, coalesce(source.min_gap, %(min_gap)s)::float8 AS min_gap,
    {WORTH} AS worth, schedule.observed_at, schedule.earliest_at, schedule.activity_seen, schedule.activity_expected,
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
    hourly: bytes  # the profile as Habit packs it; empty when nothing is learnt yet
    minutes: bytes
    root_mass: float
    utc_offset: int  # minutes
    window: int | None
    timetable: bytes
    period: float  # h, of the timetable
    chances: bytes  # of an update at each instant of the timetable; empty where its policy says nothing of it
    kind: str
    pushed_until: datetime | None  # until then its publisher sends us its news, or tells us of them

    @classmethod
    def of(cls, *, activity_seen: float, activity_expected: float, **columns: Any) -> "ScheduleState":
        """From the columns of a row with COLUMNS."""
        return cls(activity=Activity(activity_seen, activity_expected), **columns)

    def is_announced(self, at: datetime) -> bool:
        """Whether its news reach us at an instant without our asking."""
        return self.pushed_until is not None and at < self.pushed_until

    @property
    def profile(self) -> PackedProfile:
        """Its profile alone."""
        return PackedProfile(self.hourly, self.minutes)

    @property
    def least(self) -> float:
        """The shortest gap in the source's own hours: what its latest answer asked for, and our own politeness."""
        usual = self.min_gap / 3600
        if self.observed_at is None or self.earliest_at is None:
            return usual
        return max(usual, (self.earliest_at - self.observed_at).total_seconds() * self.clock_rate / 3600)
