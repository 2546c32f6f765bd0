"""When sources publish, as learned from their postings: a posting rate for every five minutes of each source's week.

Every part of a profile lies between the source's own counts and what is usual among all sources, the nearer to its own
the more is known of it: the rate, the shares of the days and of the hours, how far the week is more than days times
hours, and the shares of the minutes within each hour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import SLOTS_BEGIN, WEEK
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.peaks import Peaks, fit_peaks
from apps.retrieval.algorithms.weekly_profiles.rates import RatePrior, fit_rates
from apps.retrieval.algorithms.weekly_profiles.shares import SharesPrior, fit_shares

WEEKS = 8  # of history
FEW, FEW_WEEKS = 10, 2.0  # fewer postings count as those of at least two weeks
MIN_WEEKS = 1 / 168
HOURS, DAYS, SLOTS = 24, 7, 12
DAY_CLUSTERS, HOUR_CLUSTERS = 4, 12
SAMPLE = 4_000  # sources that the priors are fitted on; more do not change them
ROUNDING = 1e-6  # slots; a stamp of a whole minute on which one begins must not slip into the one before
SMOOTHNESS = 0.5  # of rates between two hours: 0 for steps, 1 for straight lines
MAX_COUNTED = 20.0  # postings of one source that count for the shares of minutes usual among all


@dataclass(frozen=True)
class Priors:
    """What is usual among all sources; enough to estimate a source by its first postings alone."""

    rates: RatePrior
    days: SharesPrior  # over 7 days, Sunday first
    hours: SharesPrior  # over 24 hours
    week: Peaks  # how far single hours of the week differ from day times hour
    minutes: Peaks  # how far minutes differ from one another
    slots: FloatArray  # (12,), usual shares of an hour's five-minute slots

    def to_json(self) -> dict[str, Any]:
        parts = {name: part for name, part in vars(self).items() if name != "slots"}
        values = {name: {key: array.tolist() for key, array in vars(part).items()} for name, part in parts.items()}
        return values | {"slots": self.slots.tolist()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Priors":
        """The inverse of `to_json`.

        >>> Priors.from_json(Priors.ignorant().to_json()).slots.tolist() == Priors.ignorant().slots.tolist()
        True
        """

        def arrays(name: str) -> dict[str, FloatArray]:
            return {key: np.array(value, dtype=np.float64) for key, value in values[name].items()}

        return cls(
            rates=RatePrior(**arrays("rates")),
            days=SharesPrior(**arrays("days")),
            hours=SharesPrior(**arrays("hours")),
            week=Peaks(**arrays("week")),
            minutes=Peaks(**arrays("minutes")),
            slots=np.array(values["slots"], dtype=np.float64),
        )

    @classmethod
    def ignorant(cls) -> "Priors":
        """Before any source was seen: rates from one a month to a hundred a day, no hour better than another."""
        rates = np.geomspace(0.25, 700.0, 40)
        return cls(
            rates=RatePrior(rates, np.full(40, 1 / 40)),
            days=SharesPrior(np.full((1, DAYS), 4.0), np.ones(1)),
            hours=SharesPrior(np.full((1, HOURS), 1.0), np.ones(1)),
            week=Peaks(np.ones(1), np.array([400.0])),
            minutes=Peaks(np.ones(1), np.array([400.0])),
            slots=np.full(SLOTS, 1 / SLOTS),
        )


@dataclass(frozen=True)
class WeeklyProfiles:
    """When n sources publish.

    Parameters
    ----------
    hourly : array (n, 168)
        Postings expected in each hour of the week, the first from SLOTS_BEGIN on, on the axis of `calendar`.
    minutes : array (n, 24, 12)
        Shares of the five-minute slots within each hour of the day; they sum to 1 over the last axis.
    """

    hourly: FloatArray
    minutes: FloatArray


def five_minute_rates(hourly: FloatArray, minutes: FloatArray) -> FloatArray:
    """Postings per hour in each five minutes of the week.

    The hours' counts are taken as values at half past, and rates go half as far towards the next hour's as a straight
    line would: were they constant within hours, all sources of an hourly pattern would be retrieved at its edges, in a
    herd; a straight line would level profiles that change as abruptly as hours do. The shares of minutes then lift and
    lower the rates; each week keeps its sum.

    Parameters
    ----------
    hourly : array (n, 168)
    minutes : array (n, 24, 12)

    Returns
    -------
    array (n, 2016)

    Examples
    --------
    >>> rates = five_minute_rates(np.ones((1, 168)), np.full((1, 24, 12), 1 / 12))
    >>> rates.shape, bool(np.allclose(rates, 1.0))
    ((1, 2016), True)
    """
    towards = (np.arange(SLOTS) + 0.5) / SLOTS - 0.5  # h from half past
    far = SMOOTHNESS * np.abs(towards)
    rates = hourly[:, :, None] * (1 - far)  # changed in place: it is large
    for half, neighbour in ((towards < 0, np.roll(hourly, 1, axis=1)), (towards > 0, np.roll(hourly, -1, axis=1))):
        rates[:, :, half] += neighbour[:, :, None] * far[half]
    rates.reshape(len(hourly), DAYS, HOURS, SLOTS)[...] *= SLOTS * minutes[:, None]
    rates = rates.reshape(len(hourly), DAYS * HOURS * SLOTS)
    sums = rates.sum(axis=1, keepdims=True) / SLOTS
    rates *= hourly.sum(axis=1, keepdims=True) / np.maximum(sums, 1e-300)
    return rates


def learn_priors(history: Trace, now: float, *, random: np.random.Generator) -> Priors:
    """Fit what is usual to the postings of the last weeks before `now`; from a sample, should there be many sources."""
    if len(history) > SAMPLE:
        history = history.select(np.sort(random.choice(len(history), SAMPLE, replace=False)).tolist())
    counts = _Counts.of(history, now)
    days = fit_shares(counts.days, DAY_CLUSTERS, random)
    hours = fit_shares(counts.hours, HOUR_CLUSTERS, random)
    hour_shares = hours.posterior_mean(counts.hours)
    week = _week_shares(days.posterior_mean(counts.days), hour_shares)
    by_slot = counts.minutes.sum(axis=1)
    by_slot *= np.minimum(1.0, MAX_COUNTED / np.maximum(counts.total, 1e-9))[:, None]
    slots = by_slot.sum(axis=0) + 1.0
    slots /= slots.sum()
    return Priors(
        rates=fit_rates(counts.total, counts.weeks),
        days=days,
        hours=hours,
        week=fit_peaks(counts.week[:, None], week[:, None]),
        minutes=fit_peaks(counts.minutes, hour_shares[:, :, None] * slots),
        slots=slots,
    )


def learn_profiles(history: Trace, now: float, priors: Priors) -> WeeklyProfiles:
    """Each source's profile from its postings of the last eight weeks before `now` and from what is usual.

    Parameters
    ----------
    history : Trace, of n sources
        Postings later than `now` or too old are left out. A source without any has the profile that is usual.
    """
    counts = _Counts.of(history, now)
    rates = priors.rates.posterior_mean(counts.total, counts.weeks)
    hour_shares = priors.hours.posterior_mean(counts.hours)
    week = _week_shares(priors.days.posterior_mean(counts.days), hour_shares)
    week = priors.week.shares(counts.week[:, None], week[:, None])[:, 0]
    minutes = priors.minutes.shares(counts.minutes, hour_shares[:, :, None] * priors.slots)
    return WeeklyProfiles(rates[:, None] * week, minutes)


@dataclass(frozen=True)
class _Counts:
    total: FloatArray  # (n,)
    weeks: FloatArray  # (n,), how long each was seen
    days: FloatArray  # (n, 7)
    hours: FloatArray  # (n, 24)
    week: FloatArray  # (n, 168)
    minutes: FloatArray  # (n, 24, 12)

    @classmethod
    def of(cls, history: Trace, now: float) -> "_Counts":
        known = history.window(-np.inf, now)
        recent = known.window(now - WEEKS * WEEK, now)
        owners, n = recent.owners, len(recent)
        slots = np.mod(recent.times - SLOTS_BEGIN, WEEK) * SLOTS
        slot = np.floor(slots + ROUNDING).astype(np.int64) % int(WEEK * SLOTS)
        hour = slot // SLOTS
        minute = (hour % HOURS) * SLOTS + slot % SLOTS
        week = np.bincount(owners * 168 + hour, minlength=n * 168).reshape(n, DAYS, HOURS).astype(np.float64)
        minutes = np.bincount(owners * 288 + minute, minlength=n * 288).reshape(n, HOURS, SLOTS).astype(np.float64)
        return cls(
            total=recent.counts.astype(np.float64),
            weeks=_weeks_seen(known, now),
            days=week.sum(axis=2),
            hours=week.sum(axis=1),
            week=week.reshape(n, DAYS * HOURS),
            minutes=minutes,
        )


def _weeks_seen(history: Trace, now: float) -> FloatArray:
    """How many weeks each source's postings are known for, at most WEEKS.

    n postings of a steady source spread over a stretch reach back n / (n + 1) of it. A few may by chance lie in its
    last days, so they count for FEW_WEEKS at least; a feed's window of many is taken at its word, however short.
    Nothing is known from before the oldest posting of all sources: one that was silent since then was no longer so.
    """
    first = np.array([part[0] if part.size else -np.inf for part in history.parts])
    counts = np.maximum(history.counts, 1)
    span = max((now - history.times.min()) / WEEK, FEW_WEEKS) if history.times.size else float(WEEKS)
    weeks = (now - first) / WEEK * (counts + 1) / counts
    weeks = np.where(history.counts < FEW, np.maximum(weeks, FEW_WEEKS), weeks)
    return np.asarray(np.clip(weeks, MIN_WEEKS, min(span, WEEKS)))


def _week_shares(days: FloatArray, hours: FloatArray) -> FloatArray:
    return np.asarray((days[:, :, None] * hours[:, None, :]).reshape(len(days), DAYS * HOURS))


# --- compact profiles for the database --------------------------------------------------------------------------------
WEEK_HOURS = 168
WHOLE = 65_535  # what a share of 1 is packed as
ALIKE = 0.02  # shares that differ less from one another are not stored
AT_ONCE = 64  # profiles unpacked at once, so that their rates stay in the cache of the processor


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
    cumulated = np.zeros((len(profiles), DAYS * HOURS * SLOTS + 1))
    for start in range(0, len(profiles), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        np.cumsum(five_minute_rates(hourly[part], minutes[part]), axis=1, out=cumulated[part, 1:])
    cumulated /= SLOTS
    return cumulated
