"""Compact profiles for the database, and the postings to expect by them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.weekly_profiles.learning import HOURS, SLOTS, five_minute_rates

WEEK_HOURS = 168
WHOLE = 65_535  # what a share of 1 is packed as
ALIKE = 0.02  # shares that differ less from one another are not stored


class PackedProfile(NamedTuple):
    """One source's profile."""

    hourly: bytes  # float32 (168,): postings expected in each hour of the week
    minutes: bytes  # uint16 (24, 12): shares of the five-minute slots of each hour; empty when they are alike


def pack_hourly(hourly: FloatArray) -> bytes:
    """Postings expected in each hour of the week, shape (168,)."""
    return hourly.astype("<f4").tobytes()


def pack_minutes(minutes: FloatArray) -> bytes:
    """Shares of the five-minute slots of each hour, shape (24, 12), which sum to 1 over the last axis."""
    if np.abs(minutes * SLOTS - 1).max() < ALIKE:
        return b""
    return np.round(minutes * WHOLE).astype("<u2").tobytes()


def expectations(profiles: Sequence[PackedProfile]) -> FloatArray:
    """Postings cumulated over the five minutes of each source's week, shape (k, 2017).

    >>> steady = PackedProfile(pack_hourly(np.full(168, 2.0)), pack_minutes(np.full((24, 12), 1 / 12)))
    >>> expectations([steady])[0, [0, 12, 2016]].round(6).tolist()
    [0.0, 2.0, 336.0]
    """
    hourly = np.frombuffer(b"".join(profile.hourly for profile in profiles), dtype="<f4").astype(np.float64)
    hourly = hourly.reshape(len(profiles), WEEK_HOURS)
    minutes = np.full((len(profiles), HOURS, SLOTS), 1 / SLOTS)
    for row, profile in enumerate(profiles):
        if profile.minutes:
            minutes[row] = np.frombuffer(profile.minutes, dtype="<u2").reshape(HOURS, SLOTS) / WHOLE
    cumulated = np.cumsum(five_minute_rates(hourly, minutes) / SLOTS, axis=1)
    return np.concatenate((np.zeros((len(profiles), 1)), cumulated), axis=1)
