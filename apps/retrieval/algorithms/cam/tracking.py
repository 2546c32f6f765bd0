"""Tracking: when in an epoch each page changes, and how sure that is, from looks that saw it changed or not.

Time is folded: an epoch of `period` hours has p slots of equal width, and an update instant is the end of a slot. What
is learnt of each is a Beta posterior of the probability that the page changes within the slot.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

HALF_LIFE = 4.0  # epochs after which what was seen counts for half
STRENGTH = 1.0  # epochs that what is believed before counts for
ROUNDS = 8  # in which changes are shared out among the slots in which they may have been


@dataclass(frozen=True)
class Looks:
    """m stretches (begin, end] of time between one look at a page and the next, of any number of pages."""

    pages: IntArray  # (m,), numbers from 0
    begins: FloatArray  # (m,), hours
    ends: FloatArray  # (m,), hours
    changed: BoolArray  # (m,): whether the later look saw something that the earlier had not

    @classmethod
    def of(cls, pages: ArrayLike, begins: ArrayLike, ends: ArrayLike, changed: ArrayLike) -> "Looks":
        """From anything like arrays."""
        return cls(
            np.asarray(pages, dtype=np.int64),
            np.asarray(begins, dtype=np.float64),
            np.asarray(ends, dtype=np.float64),
            np.asarray(changed, dtype=np.bool_),
        )

    def since(self, begin: float) -> "Looks":
        """Those that end later than an hour."""
        kept = self.ends > begin
        return Looks(self.pages[kept], self.begins[kept], self.ends[kept], self.changed[kept])


@dataclass(frozen=True)
class Tracked:
    """What is known of n pages with p update instants each; arrays of shape (n, p)."""

    updates: FloatArray  # epochs in which the page changed then, as far as they count, and what was believed
    silences: FloatArray  # those in which it did not
    mixed: FloatArray  # variance of `updates` because nobody saw in which of several slots a change was

    @property
    def probability(self) -> FloatArray:
        """rho_ij: that the page changes at the instant, the posterior's mean."""
        return np.asarray(self.updates / (self.updates + self.silences))

    @property
    def doubt(self) -> FloatArray:
        """The posterior's standard deviation, also for not knowing which slot a change was in."""
        known = self.updates + self.silences
        beta = self.updates * self.silences / (known**2 * (known + 1))
        return np.asarray(np.sqrt(beta + self.mixed / known**2))

    @property
    def frequency(self) -> FloatArray:
        """Changes expected in an epoch, shape (n,)."""
        return np.asarray(self.probability.sum(axis=1))


def track(
    looks: Looks,
    believed: ArrayLike,
    *,
    period: float,
    now: float,
    strength: float = STRENGTH,
    half_life: float = HALF_LIFE,
    rounds: int = ROUNDS,
) -> Tracked:
    r"""What looks say of the update instants of pages.

    A stretch without change says "not" of each slot that it covers. One with a change says that there was at least one
    in the slots it covers; by expectation-maximisation slot j gets
    :math:`c_j \rho_j / (1 - \prod_k (1 - c_k \rho_k))` of it, c_j being the part of the slot that is covered.

    Parameters
    ----------
    looks : Looks
        Of pages 0..n-1; hours from any origin at which an epoch begins. The better they tile time, the more is learnt.
    believed : array (n, p), in (0, 1)
        Probabilities that are believed before anything is seen.
    period : float
        Hours of an epoch.
    now : float
        Hours; what was seen `half_life` epochs before counts half.
    strength : float
        Epochs of observation that `believed` counts for; it is never forgotten.

    Examples
    --------
    A page that changes in the second of three hours, looked at every hour for two epochs, then once in an epoch:

    >>> hours = np.arange(6.0)
    >>> looks = Looks.of([0] * 6, hours, hours + 1, hours % 3 == 1)
    >>> track(looks, [[0.3] * 3], period=3.0, now=6.0).probability.round(2).tolist()
    [[0.11, 0.74, 0.11]]
    >>> blurred = Looks.of([0] * 7, [*hours, 6.0], [*hours + 1, 9.0], [*(hours % 3 == 1), True])
    >>> track(blurred, [[0.3] * 3], period=3.0, now=9.0).probability.round(2).tolist()
    [[0.14, 0.78, 0.13]]
    """
    believed = np.asarray(believed, dtype=np.float64)
    n, p = believed.shape
    look, pair, covered = _covered(looks, p, period)
    weight = 0.5 ** ((now - looks.ends) / period / half_life)[look]
    changed = looks.changed[look]
    exposed = np.bincount(pair, weight * covered, minlength=n * p)
    look, pair, covered, weight = look[changed], pair[changed], covered[changed], weight[changed]
    prior = strength * believed.ravel()
    rho = believed.ravel()
    share = np.empty(0)
    for _ in range(rounds):
        part = covered * rho[pair]
        nothing = np.bincount(look, np.log1p(-np.minimum(part, 1 - 1e-12)), minlength=looks.pages.size)
        share = part / np.maximum(-np.expm1(nothing[look]), part)
        updates = prior + np.bincount(pair, weight * share, minlength=n * p)
        rho = updates / (strength + exposed)
    unsure = weight**2 * share * np.maximum(1 - share, 0)
    mixed = np.bincount(pair, unsure, minlength=n * p).astype(np.float64)
    updates = rho * (strength + exposed)
    silences = np.maximum(strength + exposed - updates, 1e-9)
    return Tracked(updates.reshape(n, p), silences.reshape(n, p), mixed.reshape(n, p))


def _covered(looks: Looks, slots: int, period: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Every slot that each stretch touches: the stretch's number, the pair page * slots + slot, the part covered."""
    width = period / slots
    begins, ends = looks.begins / width, looks.ends / width
    first = np.floor(begins + 1e-9).astype(np.int64)
    count = np.maximum(np.ceil(ends - 1e-9).astype(np.int64) - first, 0)
    look = np.repeat(np.arange(count.size), count)
    slot = first[look] + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    covered = np.minimum(ends[look], slot + 1) - np.maximum(begins[look], slot)
    return look, looks.pages[look] * slots + slot % slots, np.clip(covered, 0.0, 1.0)


def merged(probabilities: ArrayLike, earliest: ArrayLike, latest: ArrayLike, width: float) -> FloatArray:
    """Probabilities in which an instant that lies across the border of two slots is one, at the end of the later slot.

    Parameters
    ----------
    probabilities : array (n, p), in [0, 1]
    earliest, latest : array (n, p), hours within the epoch
        Between which phases the changes of each slot lie; NaN where that is not known.
    width : float
        Hours of a slot. Two neighbours whose changes all lie within less than it are taken for one.

    Examples
    --------
    Changes between 0:57 and 1:04:

    >>> nan = float("nan")
    >>> merged([[0.5, 0.5, 0.1]], [[0.95, 1.0, nan]], [[0.98, 1.07, nan]], 1.0).tolist()
    [[0.0, 0.75, 0.1]]
    """
    result = np.array(probabilities, dtype=np.float64)
    begin, end = np.asarray(earliest, dtype=np.float64), np.asarray(latest, dtype=np.float64)
    free = np.ones(len(result), dtype=bool)  # the slot before was not merged already
    for slot in range(1, result.shape[1]):
        together = free & (end[:, slot] - begin[:, slot - 1] < width)
        both = 1 - (1 - result[:, slot - 1]) * (1 - result[:, slot])
        result[together, slot] = both[together]
        result[together, slot - 1] = 0.0
        free = ~together
    return result
