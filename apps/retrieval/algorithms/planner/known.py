"""What is remembered of a source, as rows hold it, and what it lets us expect."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import epoch_of, hours_of
from apps.retrieval.algorithms.habits.learning import HOURS, SLOTS, five_minute_rates
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.planner.ahead import Outlook

FloatArray = NDArray[np.float64]

WEEK_HOURS = 168
USUAL = Activity()
_WHOLE = 65_535  # what a share of 1 is packed as


def pack_hourly(hourly: FloatArray) -> bytes:
    """Postings expected in each hour of the week, shape (168,), as float32."""
    return hourly.astype("<f4").tobytes()


def pack_minutes(minutes: FloatArray) -> bytes:
    """Shares of the five-minute slots of each hour, shape (24, 12); nothing when they are all alike within 2 %."""
    if np.abs(minutes * SLOTS - 1).max() < 0.02:
        return b""
    return np.round(minutes * _WHOLE).astype("<u2").tobytes()


@dataclass(frozen=True, slots=True)
class Known:
    """What planning has to know of one source. Instants are seconds since 1970, durations its own hours."""

    hourly: bytes
    minutes: bytes
    pace: float = 1.0
    worth: float = 1.0  # its weight
    least: float = 1.0  # h, the shortest gap that politeness allows
    observed_at: float | None = None  # latest retrieval that showed what it has
    activity: Activity = USUAL
    utc_offset: int = 0  # minutes
    window: int | None = None  # items that its document shows

    def hours(self, epoch: float) -> float:
        """An instant on the source's own axis, in its local time."""
        return float(hours_of(epoch, self.pace)) + self.utc_offset / 60

    def epoch(self, hours: float) -> float:
        return float(epoch_of(hours - self.utc_offset / 60, self.pace))


def expectations(sources: Sequence[Known]) -> FloatArray:
    """Postings cumulated over the five minutes of each source's week, shape (k, 2017)."""
    hourly = np.frombuffer(b"".join(source.hourly for source in sources), dtype="<f4").astype(np.float64)
    hourly = hourly.reshape(len(sources), WEEK_HOURS)
    alike = np.full((HOURS, SLOTS), 1 / SLOTS)
    minutes = np.array(
        [
            np.frombuffer(source.minutes, dtype="<u2").reshape(HOURS, SLOTS) / _WHOLE if source.minutes else alike
            for source in sources
        ]
    )
    rates = five_minute_rates(hourly, minutes)
    return np.concatenate((np.zeros((len(sources), 1)), np.cumsum(rates / SLOTS, axis=1)), axis=1)


def outlook(sources: Sequence[Known], now: float, *, price: float, longest: float) -> Outlook:
    """What is expected of sources from an instant on (seconds since 1970), for the planner.

    Parameters
    ----------
    price : float
        Posting-hours per retrieval of a source of weight 1.
    longest : float
        Hours of the source that no gap exceeds.
    """
    hours = np.array([source.hours(now) for source in sources])
    factor = np.array([source.activity.factor for source in sources])
    worth = np.array([source.worth for source in sources])
    plain = Outlook(
        cumulated=expectations(sources),
        now=hours,
        waiting=np.zeros(len(sources)),
        factor=factor,
        price=price / np.maximum(worth, 1e-12),
        least=np.array([source.least for source in sources]),
        longest=np.full(len(sources), longest),
        window=np.array([np.inf if source.window is None else source.window for source in sources]),
    )
    since = np.array([source.hours(now if source.observed_at is None else source.observed_at) for source in sources])
    known, until = plain.expected(np.vstack((np.minimum(since, hours), hours)))
    return plain.with_waiting(factor * (until - known))
