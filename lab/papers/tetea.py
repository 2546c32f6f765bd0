"""TETEA, the task executing time estimation algorithm of Ai-Times, to the letter.

Where the thesis is ambiguous, this module assumes:

- C_t counts the categories that hold a record of the past; the average of an empty one is not defined.
- A record whose category holds no record of the past is expected to take AverageTime(t), formula (2).
- Equal values of Determine go to the attribute that is named first.
- Formula (7) is a condition without a way to it. Here the hash of (5) is computed with new salts until (7)
  holds; after a bounded number of tries, the one with the smallest difference is used.
- What (5) hashes is up to the caller. "Hash(record[i])" says records, one by one; "the pages from the same website
  will be assigned to the same task node", a sentence about the traditional system, would make a host one record that
  takes the time of all its pages.

References
----------
The thesis on Ai-Times, a parallel web news retrieval system: chapter 5.3, Algorithm III, formulas (1) to (7).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.jobs.algorithms.estimates import Keys
from lab.benchmarks.splitting.hashing import modulo

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TOP = 1  # "In Ai-Times, we make the k to be 1"
TRIES = 100


class Attribute(NamedTuple):
    """One attribute of the past records and of those to be processed: the category of each, from 0."""

    past: IntArray
    new: IntArray
    categories: int


class Estimate(NamedTuple):
    seconds: FloatArray  # of each new record
    determines: dict[str, float]  # formula (3) of each attribute
    chosen: list[str]  # the attributes that determine most


class Balanced(NamedTuple):
    split: IntArray  # of each record
    difference: float  # seconds between the longest and the shortest split, as estimated
    tries: int
    salt: int


def discrete(past: Keys, new: Keys, count: int) -> Attribute:
    """An attribute of which values are the same or not: "partitioned by their hash value"."""
    return Attribute(modulo(past, count), modulo(new, count), count)


def continuous(past: FloatArray, new: FloatArray, count: int) -> Attribute:
    """An attribute that is an amount, "partitioned by their range": equal ones from the past's least to its largest.

    >>> continuous(np.array([0.0, 10.0]), np.array([0.0, 4.9, 5.0, 99.0, -3.0]), 2).new.tolist()
    [0, 0, 1, 1, 0]
    """
    low, high = float(past.min()), float(past.max())
    width = (high - low) / count or 1.0
    of_past, of_new = (np.clip((each - low) // width, 0, count - 1).astype(np.int64) for each in (past, new))
    return Attribute(of_past, of_new, count)


def average_times(categories: IntArray, processed: FloatArray, count: int) -> FloatArray:
    """Formula (1): the average processed time of the records of each category.

    Parameters
    ----------
    categories : array (n,)
        From 0 to ``count`` - 1.
    processed : array (n,)
        Seconds.
    count : int

    Returns
    -------
    array (count,)
        Seconds; nan of a category without records.

    Examples
    --------
    >>> average_times(np.array([0, 0, 2]), np.array([1.0, 3.0, 5.0]), 3).tolist()
    [2.0, nan, 5.0]
    """
    records = np.bincount(categories, minlength=count)
    sums = np.bincount(categories, weights=processed, minlength=count)
    return np.asarray(np.divide(sums, records, out=np.full(count, np.nan), where=records > 0))


def average_time(averages: FloatArray) -> float:
    """Formula (2): the average of the averages, of however many records each is.

    >>> average_time(np.array([2.0, np.nan, 5.0]))
    3.5
    """
    return float(np.nanmean(averages))


def determine(averages: FloatArray) -> float:
    """Formula (3): how far the averages of an attribute's categories lie apart.

    >>> determine(np.array([2.0, np.nan, 5.0]))
    1.5
    """
    return float(np.sqrt(np.nanmean((averages - average_time(averages)) ** 2)))


def estimated(attributes: Mapping[str, Attribute], processed: FloatArray, top: int = TOP) -> Estimate:
    """Formulas (1) to (4): how long each new record will take, by the attributes that determine the time most.

    Parameters
    ----------
    attributes : mapping of name to Attribute
        At least one, of n past and m new records.
    processed : array (n,)
        Seconds that the past records took; at least one.
    top : int
        How many attributes are used, the K of (4).

    Returns
    -------
    Estimate
        Of m records.

    Examples
    --------
    >>> host = Attribute(past=np.array([0, 0, 1]), new=np.array([1, 0]), categories=2)
    >>> size = Attribute(past=np.array([0, 1, 1]), new=np.array([1, 1]), categories=2)
    >>> estimate = estimated({"size": size, "host": host}, np.array([1.0, 1.0, 9.0]))
    >>> estimate.chosen, estimate.seconds.tolist()
    (['host'], [9.0, 1.0])
    """
    averages = {name: average_times(each.past, processed, each.categories) for name, each in attributes.items()}
    determines = {name: determine(of) for name, of in averages.items()}
    chosen = sorted(determines, key=lambda name: -determines[name])[:top]
    times = [
        np.nan_to_num(averages[name], nan=average_time(averages[name]))[attributes[name].new]  #
        for name in chosen
    ]
    return Estimate(np.mean(times, axis=0), determines, chosen)


def split_by_hash(keys: Keys, splits: int, salt: int = 0) -> IntArray:
    """Formula (5): ``Hash(record) mod K``."""
    return modulo(keys, splits, salt)


def total_times(split: IntArray, seconds: FloatArray, splits: int) -> FloatArray:
    """Formula (6): the estimated time of each split.

    >>> total_times(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [1.0, 0.0, 5.0]
    """
    return np.asarray(np.bincount(split, weights=seconds, minlength=splits), dtype=np.float64)


def largest_difference(totals: FloatArray) -> float:
    """Between any two splits, what formula (7) bounds: that of the longest and the shortest is the largest.

    >>> largest_difference(np.array([1.0, 0.0, 5.0]))
    5.0
    """
    return float(totals.max() - totals.min())


def balanced(keys: Keys, seconds: FloatArray, splits: int, constant_time: float, tries: int = TRIES) -> Balanced:
    """Formulas (5) to (7): hash with new salts until all splits are estimated to take about as long.

    Parameters
    ----------
    keys : array (n,) of uint64
        The identity of each record, the same in every round.
    seconds : array (n,)
        As estimated.
    splits : int
    constant_time : float
        Seconds; CONSTANTTIME, below which the difference of any two splits must lie.
    tries : int
        At least one.

    Returns
    -------
    Balanced
        Its ``difference`` says whether (7) holds.

    Examples
    --------
    >>> found = balanced(np.arange(4, dtype=np.uint64), np.ones(4), splits=2, constant_time=1.0)
    >>> np.bincount(found.split).tolist(), found.difference
    ([2, 2], 0.0)
    """
    best, chosen = np.inf, 0
    salt = 0
    for salt in range(tries):
        difference = largest_difference(total_times(split_by_hash(keys, splits, salt), seconds, splits))
        if difference < best:
            best, chosen = difference, salt
        if best < constant_time:
            break
    return Balanced(split_by_hash(keys, splits, chosen), best, salt + 1, chosen)
