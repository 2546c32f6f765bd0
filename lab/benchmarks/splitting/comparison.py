"""All methods of splitting, on the same records."""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.jobs.algorithms import estimates
from apps.jobs.algorithms.estimates import Keys
from lab.benchmarks.splitting.hashing import combined
from lab.benchmarks.splitting.makespan import Outcome, lower_bound, outcome
from lab.benchmarks.splitting.synthetic import Records
from lab.benchmarks.splitting.ways import METHODS, Work, boxed, gathered
from lab.papers import tetea

FloatArray = NDArray[np.float64]

HOST_CATEGORIES, KIND_CATEGORIES, SIZE_CATEGORIES = 2**16, 16, 20  # the C_t of TETEA


class Expected(NamedTuple):
    seconds: FloatArray  # that each new record is estimated to take
    attribute: str  # by which


class Scheme(StrEnum):
    """The unit of a task."""

    RECORDS = "records"  # each record, wherever its host's other records are: "Hash(record[i])" in the thesis
    WHOLE = "whole"  # all records of a host, so that one worker alone requests it
    BOXED = "boxed"  # the same, cut at the average time of all splits; the rest is left to the next round


class Result(NamedTuple):
    scheme: Scheme
    method: str
    outcome: Outcome


def expected_by_tetea(past: Records, new: Records) -> Expected:
    """Estimates by the thesis' formulas from the times of past records."""
    attributes = {
        "host": tetea.discrete(past.hosts, new.hosts, HOST_CATEGORIES),
        "kind": tetea.discrete(past.kinds, new.kinds, KIND_CATEGORIES),
        "size": tetea.continuous(past.sizes, new.sizes, SIZE_CATEGORIES),
    }
    estimate = tetea.estimated(attributes, past.seconds)
    return Expected(estimate.seconds, estimate.chosen[0])


def expected_by_us(past: Records, new: Records) -> Expected:
    """By shrunken means of the attribute that explains most."""
    learnt = {name: estimates.learn(values, past.seconds) for name, values in _attributes(past).items()}
    name = estimates.best_explaining_attribute(learnt)
    return Expected(estimates.estimated(learnt[name], _attributes(new)[name]), name)


def compared(new: Records, splits: int, by_tetea: FloatArray, by_us: FloatArray) -> Iterator[Result]:
    """The result of each method when tasks are records, whole hosts, or whole hosts within a time box.

    With records, the baseline of the thesis, ``hash`` of hosts, is included; and ``hash_of_records``, to separate the
    effect of dividing hosts from that of the method.

    Parameters
    ----------
    new : Records
    splits : int
    by_tetea, by_us : array (n,)
        The seconds that each record is estimated to take; TETEA splits by the first, all others by the second.

    Yields
    ------
    Result
        As soon as it is known, scheme by scheme.
    """
    keys = np.arange(len(new.seconds), dtype=np.uint64)
    records = {name: Work(keys, by_tetea if name == "tetea" else by_us, new.seconds) for name in METHODS}
    hosts = {name: gathered(work, new.hosts)[0] for name, work in records.items()}
    box = time_box(by_us, splits)
    yield Result(Scheme.RECORDS, "hash", _tried("hash", hosts["hash"], splits))
    for name, work in records.items():
        yield Result(Scheme.RECORDS, "hash_of_records" if name == "hash" else name, _tried(name, work, splits))
    for name, work in hosts.items():
        yield Result(Scheme.WHOLE, name, _tried(name, work, splits))
    for name, work in hosts.items():
        yield Result(Scheme.BOXED, name, _tried(name, boxed(work, box), splits))


RESULTS = 1 + 3 * len(METHODS)  # of a comparison


def time_box(expected: FloatArray, splits: int) -> float:
    """Seconds that one host may take in a round: the estimated mean of a split."""
    return float(expected.sum()) / splits


def lower_bounds(new: Records, splits: int, box: float) -> dict[Scheme, float]:
    """Seconds before which no method could be done, in each scheme."""
    work = Work(new.hosts, new.seconds, new.seconds)
    hosts = gathered(work, new.hosts)[0]
    return {
        Scheme.RECORDS: lower_bound(new.seconds, splits),
        Scheme.WHOLE: lower_bound(hosts.seconds, splits),
        Scheme.BOXED: lower_bound(boxed(hosts, box).seconds, splits),
    }


def _tried(method: str, work: Work, splits: int) -> Outcome:
    return outcome(METHODS[method](work, splits), work.seconds, splits)


def _attributes(records: Records) -> dict[str, Keys]:
    """Single ones first, since a pair of attributes has fewer records to each of its values."""
    sizes = estimates.size_buckets(records.sizes)
    return {
        "host": records.hosts,
        "kind": records.kinds,
        "size": sizes,
        "host and size": combined(records.hosts, sizes),
        "kind and size": combined(records.kinds, sizes),
    }
