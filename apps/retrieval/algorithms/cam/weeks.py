"""Update instants of sources whose week is known: an epoch is a week, a slot an hour of each source's own grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import BoolArray, FloatArray, IntArray
from apps.retrieval.algorithms.calendar import SLOTS_BEGIN, WEEK
from apps.retrieval.algorithms.cam.tracking import merged
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.weekly_profiles.learning import WEEKS

HOURS = 168
STEPS = 12  # of five minutes in an hour
TAIL = 0.05  # share of an hour's changes at either end that is ignored when neighbours are merged
PREFERENCE = 0.05  # steps of waiting accepted, per step, for a grid that differs from others'


@dataclass(frozen=True)
class Weeks:
    """Update instants of n sources."""

    probabilities: FloatArray  # (n, 168)
    shifts: FloatArray  # (n,): hours from Sunday's midnight, UTC, at which each source's first slot begins, below 1

    @property
    def doubt(self) -> FloatArray:
        """How unsure the probabilities are: as if each week of the profiles' history had been observed."""
        return np.asarray(np.sqrt(self.probabilities * (1 - self.probabilities) / (WEEKS + 1)))

    def update_instants(self, source: int) -> FloatArray:
        """Hours of the week at which each slot of a source ends and it may be checked, shape (168,)."""
        return np.asarray((self.shifts[source] + np.arange(1, HOURS + 1)) % WEEK)

    def timetable(self, source: int, chosen: BoolArray) -> tuple[Timetable, FloatArray]:
        """The timetable of the chosen slots of a source, shape (168,), and the probability of an update at each."""
        times = self.update_instants(source)[chosen]
        order = np.argsort(times)
        return Timetable(times[order], WEEK), self.probabilities[source, chosen][order]


def weeks(rates: ArrayLike, offsets: ArrayLike, preferred: ArrayLike) -> Weeks:
    """The update instants of sources from what they are expected to publish.

    rho_j = 1 - exp(-postings expected in slot j). The grid begins so that what is published at the same minutes of each
    hour is at the end of its slot; among sources that have no such minutes the grids are spread.

    Parameters
    ----------
    rates : array (n, 2016)
        Postings expected in each five minutes of the week, from `SLOTS_BEGIN` after Sunday's midnight on, local time.
    offsets : array (n,) of int, minutes
        That local time is ahead of UTC.
    preferred : array (n,), in [0, 1)
        Where in the hour a source's grid begins if nothing else decides.

    Examples
    --------
    Published in the five minutes after 10:31 on Sunday, UTC+2, and checked at 8:36 UTC:

    >>> rates = np.zeros((1, 2016))
    >>> rates[0, 10 * 12 + 6] = 3.0
    >>> found = weeks(rates, [120], [0.0])
    >>> place = int(found.probabilities[0].argmax())
    >>> round(float(found.update_instants(0)[place]), 3), float(found.probabilities[0, place].round(3))
    (8.6, 0.95)
    """
    rates = np.asarray(rates, dtype=np.float64)
    n = len(rates)
    behind = -(np.asarray(offsets, dtype=np.int64) // 5)
    column = np.arange(HOURS * STEPS)
    utc = np.take_along_axis(rates, (column - behind[:, None]) % column.size, axis=1)
    steps = _first_steps(utc.reshape(n, HOURS, STEPS).sum(axis=1), np.asarray(preferred, dtype=np.float64))
    slots = np.take_along_axis(utc, (column + steps[:, None]) % column.size, axis=1).reshape(n, HOURS, STEPS)
    expected = slots.sum(axis=2)
    earliest, latest = _bulk(slots, expected)
    return Weeks(merged(-np.expm1(-expected), earliest, latest, 1.0), SLOTS_BEGIN + steps / STEPS)


def _first_steps(masses: FloatArray, preferred: FloatArray) -> IntArray:
    """The five minutes of the hour in which the slots of each source begin; `masses` is of shape (n, 12)."""
    steps = np.arange(STEPS)
    waits = (steps[:, None] - 1 - steps) % STEPS  # [begin, step]: until the slot's end
    total = np.maximum(masses.sum(axis=1, keepdims=True), 1e-300)
    mean_wait = masses @ waits.T / total
    wanted = np.floor(preferred * STEPS).astype(np.int64)
    return np.asarray((mean_wait + PREFERENCE * ((steps - wanted[:, None]) % STEPS)).argmin(axis=1))


def _bulk(slots: FloatArray, expected: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Between which hours of the week most of each slot's changes lie; NaN where none are expected."""
    shares = np.cumsum(slots, axis=2) / np.maximum(expected, 1e-300)[:, :, None]
    begin = (shares > TAIL).argmax(axis=2) / STEPS
    end = ((shares >= 1 - TAIL).argmax(axis=2) + 1) / STEPS
    hours = np.arange(HOURS)
    some = expected > 0
    return np.where(some, hours + begin, np.nan), np.where(some, hours + end, np.nan)
