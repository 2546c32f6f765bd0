"""How long a record will take, learnt from what records like it took, round by round.

TETEA takes the plain average of a category, and of the attributes the one whose averages lie furthest apart, where a
category of one slow record counts as much as one of a million. Here

- the mean of a category is drawn towards that of all records, the more the fewer records it has;
- the attribute is chosen by the share of the variance that it explains, less what as many categories explain by chance;
- older rounds count less.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]  # values of an attribute

PRIOR = 5.0  # records of the overall mean that each category has in addition to its own
KEPT = 0.5  # of the weight of all earlier rounds, at each round
_NO_VARIANCE = 1e-12  # of the mean square: less is rounding


class Learnt(NamedTuple):
    """Statistics of one attribute: for each of its values, in ascending order, the durations of its records."""

    values: Keys
    counts: FloatArray  # of records, older ones counting less
    sums: FloatArray  # seconds
    squares: FloatArray  # seconds squared

    @property
    def mean(self) -> float:
        """Seconds, of all records; 0 where nothing is known."""
        records = float(self.counts.sum())
        return float(self.sums.sum()) / records if records else 0.0


def keys_of(names: Iterable[str]) -> Keys:
    """A key of 64 bits for each name.

    >>> keys_of(["a.example", "b.example", "a.example"]) == keys_of(["a.example"])
    array([ True, False,  True])
    """
    known: dict[str, int] = {}
    keys = [
        known.get(name) or known.setdefault(name, int.from_bytes(blake2b(name.encode(), digest_size=8).digest()))
        for name in names
    ]
    return np.array(keys, dtype=np.uint64)


def size_buckets(sizes: FloatArray) -> Keys:
    """Sizes by powers of two, as values of an attribute.

    >>> size_buckets(np.array([0.0, 1.0, 1000.0, 1024.0])).tolist()
    [0, 1, 9, 10]
    """
    return np.asarray(np.log2(1 + np.maximum(sizes, 0)), dtype=np.uint64)


def learn(values: Keys, seconds: FloatArray, before: Learnt | None = None) -> Learnt:
    """The statistics of an attribute after another round.

    Parameters
    ----------
    values : array (n,) of uint64
        The attribute's value of each record of the round.
    seconds : array (n,)
        Duration of each.
    before : Learnt, optional
        Earlier statistics; they count half from now on.

    Examples
    --------
    >>> host = learn(np.array([7, 7, 9], dtype=np.uint64), np.array([1.0, 3.0, 5.0]))
    >>> host.mean
    3.0
    >>> learn(np.array([7], dtype=np.uint64), np.array([8.0]), host).counts.tolist()
    [2.0, 0.5]
    """
    weights = np.ones(len(values))
    sums, squares = seconds, seconds**2
    if before is not None:
        values = np.concatenate([before.values, values])
        weights = np.concatenate([KEPT * before.counts, weights])
        sums = np.concatenate([KEPT * before.sums, sums])
        squares = np.concatenate([KEPT * before.squares, squares])
    distinct, place = np.unique(values, return_inverse=True)
    added = (
        np.asarray(np.bincount(place, weights=each, minlength=len(distinct)), dtype=np.float64)
        for each in (weights, sums, squares)
    )
    return Learnt(distinct, *added)


def estimated(learnt: Learnt, values: Keys) -> FloatArray:
    """How long records will take: ``(n m + 5 mean of all) / (n + 5)``.

    Parameters
    ----------
    learnt : Learnt
    values : array (m,) of uint64
        The attribute's value of each record; one that nothing is known of gets the mean of all.

    Returns
    -------
    array (m,)
        Seconds.

    References
    ----------
    Shrinkage towards the common mean: B. Efron, C. Morris, "Stein's paradox in statistics", Scientific American 1977.

    Examples
    --------
    >>> host = learn(np.array([7, 7, 9], dtype=np.uint64), np.array([1.0, 3.0, 5.0]))
    >>> estimated(host, np.array([9, 8], dtype=np.uint64)).round(3).tolist()
    [3.333, 3.0]
    """
    if not len(learnt.values):
        return np.zeros(len(values))
    shrunken = (learnt.sums + PRIOR * learnt.mean) / (learnt.counts + PRIOR)
    place = np.minimum(np.searchsorted(learnt.values, values), len(learnt.values) - 1)
    return np.where(learnt.values[place] == values, shrunken[place], learnt.mean)


def explained(learnt: Learnt) -> float:
    """Eta squared less what an attribute with as many values explains by chance; at most 1, below 0 for less than that.

    Without the correction an attribute with a value of its own for each record would explain everything.

    References
    ----------
    T. L. Kelley, "An unbiased correlation ratio measure", PNAS 1935.

    Examples
    --------
    >>> explained(learn(np.arange(4, dtype=np.uint64), np.array([1.0, 2.0, 3.0, 4.0])))
    0.0
    >>> explained(learn(np.array([7, 7, 9, 9], dtype=np.uint64), np.array([2.0, 2.0, 5.0, 5.0])))
    1.0
    """
    within, total = _sums_of_squares(learnt)
    records, values = float(learnt.counts.sum()), len(learnt.values)
    if not total or records <= values:
        return 0.0
    return 1 - (within / (records - values)) / (total / (records - 1))


def best_explaining_attribute(attributes: Mapping[str, Learnt]) -> str:
    """The attribute that explains the times best; of those equal to a thousandth, which is chance, the first.

    >>> seconds = np.array([2.0, 2.0, 5.0, 5.0])
    >>> host, noise = (learn(np.uint64(values), seconds) for values in ([7, 7, 9, 9], [1, 2, 1, 2]))
    >>> best_explaining_attribute({"noise": noise, "host": host})
    'host'
    """
    return max(attributes, key=lambda name: round(explained(attributes[name]), 3))


def _sums_of_squares(learnt: Learnt) -> tuple[float, float]:
    """Within the values of the attribute, and of all records."""
    squares = float(learnt.squares.sum())
    records = float(learnt.counts.sum())
    within = max(squares - float(np.sum(learnt.sums**2 / learnt.counts)), 0.0)
    total = squares - records * learnt.mean**2
    return (0.0, 0.0) if total <= _NO_VARIANCE * squares else (min(within, total), total)
