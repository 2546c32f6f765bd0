"""Tracking: when in an epoch each page changes, and how sure that is, from checks that saw it changed or not.

Time is folded: an epoch of `period` hours has p slots of equal width, and an update instant is the end of a slot. What
is learned of each is a Beta posterior of the probability that the page changes within the slot.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import BoolArray, FloatArray, IntArray

HALF_LIFE = 4.0  # epochs after which an observation counts half
KEPT_EPOCHS = 4 * HALF_LIFE  # epochs; older observations count less than a sixteenth
STRENGTH = 1.0  # epochs of observation that the prior counts for
ROUNDS = 8  # of expectation-maximisation


@dataclass(frozen=True)
class Observations:
    """m stretches (begin, end] of time between one check of a page and the next, of any number of pages."""

    pages: IntArray  # (m,), numbers from 0
    begins: FloatArray  # (m,), hours
    ends: FloatArray  # (m,), hours
    changed: BoolArray  # (m,): whether the later check found something new

    @classmethod
    def of(cls, pages: ArrayLike, begins: ArrayLike, ends: ArrayLike, changed: ArrayLike) -> "Observations":
        """From values that can be converted to arrays."""
        return cls(
            np.asarray(pages, dtype=np.int64),
            np.asarray(begins, dtype=np.float64),
            np.asarray(ends, dtype=np.float64),
            np.asarray(changed, dtype=np.bool_),
        )


@dataclass(frozen=True)
class Tracked:
    """What is known of n pages with p update instants each; arrays of shape (n, p)."""

    updates: FloatArray  # epochs in which the page changed then, weighted by age, and the prior
    silences: FloatArray  # those in which it did not
    mixed: FloatArray  # variance of `updates`, as the slot of a change is uncertain

    @property
    def probability(self) -> FloatArray:
        """rho_ij: that the page changes at the update instant, the posterior's mean."""
        return np.asarray(self.updates / (self.updates + self.silences))

    @property
    def doubt(self) -> FloatArray:
        """The posterior's standard deviation, including the uncertainty about the slot of each change."""
        known = self.updates + self.silences
        beta = self.updates * self.silences / (known**2 * (known + 1))
        return np.asarray(np.sqrt(beta + self.mixed / known**2))


def track(
    observations: Observations,
    believed: ArrayLike,
    *,
    period: float,
    now: float,
    strength: float = STRENGTH,
    half_life: float = HALF_LIFE,
    rounds: int = ROUNDS,
) -> Tracked:
    r"""Estimate the update instants of pages from checks.

    A stretch without change is evidence against a change in each slot it covers. One with a change means at least one
    change in the slots it covers; by expectation-maximisation slot j gets
    :math:`c_j \rho_j / (1 - \prod_k (1 - c_k \rho_k))` of it, c_j being the part of the slot that is covered.

    Parameters
    ----------
    observations : Observations
        Of pages 0..n-1; hours from any origin at which an epoch begins. The better they tile time, the more is learned.
    believed : array (n, p), in (0, 1)
        Prior probabilities.
    period, now : float
        Hours of an epoch, and of the present; what was seen `half_life` epochs earlier counts half.
    strength : float
        Epochs of observation that `believed` counts for; it is never forgotten.

    Examples
    --------
    A page that changes in the second of three hours, checked every hour for two epochs, then once in an epoch:

    >>> hours = np.arange(6.0)
    >>> hourly = Observations.of([0] * 6, hours, hours + 1, hours % 3 == 1)
    >>> track(hourly, [[0.3] * 3], period=3.0, now=6.0).probability.round(2).tolist()
    [[0.11, 0.74, 0.11]]
    >>> blurred = Observations.of([0] * 7, [*hours, 6.0], [*hours + 1, 9.0], [*(hours % 3 == 1), True])
    >>> track(blurred, [[0.3] * 3], period=3.0, now=9.0).probability.round(2).tolist()
    [[0.14, 0.78, 0.13]]
    """
    believed = np.asarray(believed, dtype=np.float64)
    n, p = believed.shape
    stretch, pair, covered = _covered(observations, p, period)
    weight = 0.5 ** ((now - observations.ends) / period / half_life)[stretch]
    changed = observations.changed[stretch]
    exposed = np.bincount(pair, weight * covered, minlength=n * p)
    stretch, pair, covered, weight = stretch[changed], pair[changed], covered[changed], weight[changed]
    prior = strength * believed.ravel()
    rho = believed.ravel()
    share = np.empty(0)
    for _ in range(rounds):
        part = covered * rho[pair]
        nothing = np.bincount(stretch, np.log1p(-np.minimum(part, 1 - 1e-12)), minlength=observations.pages.size)
        share = part / np.maximum(-np.expm1(nothing[stretch]), part)
        updates = prior + np.bincount(pair, weight * share, minlength=n * p)
        rho = updates / (strength + exposed)
    unsure = weight**2 * share * np.maximum(1 - share, 0)
    mixed = np.bincount(pair, unsure, minlength=n * p).astype(np.float64)
    updates = rho * (strength + exposed)
    silences = np.maximum(strength + exposed - updates, 1e-9)
    return Tracked(updates.reshape(n, p), silences.reshape(n, p), mixed.reshape(n, p))


def _covered(observations: Observations, slots: int, period: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Every slot that each stretch touches: the stretch's number, the pair page * slots + slot, the part covered."""
    width = period / slots
    begins, ends = observations.begins / width, observations.ends / width
    first = np.floor(begins + 1e-9).astype(np.int64)
    count = np.maximum(np.ceil(ends - 1e-9).astype(np.int64) - first, 0)
    stretch = np.repeat(np.arange(count.size), count)
    slot = first[stretch] + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    covered = np.minimum(ends[stretch], slot + 1) - np.maximum(begins[stretch], slot)
    return stretch, observations.pages[stretch] * slots + slot % slots, np.clip(covered, 0.0, 1.0)


def merged(probabilities: ArrayLike, earliest: ArrayLike, latest: ArrayLike, width: float) -> FloatArray:
    """Merge update instants that lie across the border of two slots, at the end of the later slot.

    Parameters
    ----------
    probabilities : array (n, p), in [0, 1]
    earliest, latest : array (n, p), hours within the epoch
        Phases between which the changes of each slot lie; NaN where unknown.
    width : float
        Hours of a slot. Two neighbours whose changes all lie within less than it are merged.

    Examples
    --------
    Changes between 0:57 and 1:04:

    >>> nan = float("nan")
    >>> merged([[0.5, 0.5, 0.1]], [[0.95, 1.0, nan]], [[0.98, 1.07, nan]], 1.0).tolist()
    [[0.0, 0.75, 0.1]]
    """
    result = np.array(probabilities, dtype=np.float64)
    begin, end = np.asarray(earliest, dtype=np.float64), np.asarray(latest, dtype=np.float64)
    free = np.ones(len(result), dtype=bool)  # the previous slot is not merged yet
    for slot in range(1, result.shape[1]):
        together = free & (end[:, slot] - begin[:, slot - 1] < width)
        both = 1 - (1 - result[:, slot - 1]) * (1 - result[:, slot])
        result[together, slot] = both[together]
        result[together, slot - 1] = 0.0
        free = ~together
    return result
