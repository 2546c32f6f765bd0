"""The authority of sources, from their reports in stories and from what readers starred."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

STARS_BEFORE, READS_BEFORE = 1.0, 20.0  # prior of every source: one of twenty is starred
MIN_REPORTS = 5  # reports in stories at which the prior of 1/2 and the mean weigh the same


class Record(NamedTuple):
    """Statistics of a source over some weeks."""

    reports: int  # postings
    in_stories: int  # in a story with another source
    importance: float  # sum over its reports of others' reports in the same story, without copies
    earliness: float  # mean share of a story's other sources that came later; 0.5 without stories
    originals: int  # reports that are no copies
    stars: int
    reads: int  # opened postings


class Authority(NamedTuple):
    """0 to 1, and its percentiles."""

    value: float
    importance: float
    earliness: float
    originality: float
    independence: float
    stars: float


def authorities(records: Mapping[int, Record]) -> dict[int, Authority]:
    """The authority of each source: the mean of five percentiles among all sources.

    importance (a report counts as often as others report the same), earliness, originality (the share of its reports
    in stories), independence (1 - the share of copies), and stars per posting read with a Beta(1, 19) prior. For a
    source with few reports in stories the mean is shrunk towards 1/2, by 5 / (5 + reports in stories).

    Parameters
    ----------
    records : mapping of source to Record

    References
    ----------
    M. Curtiss, K. Bharat, M. Schmitt, "Systems and methods for improving the ranking of news articles", US 7,577,655.

    Examples
    --------
    >>> found = authorities({1: Record(10, 9, 50, 0.9, 10, 5, 20), 2: Record(10, 9, 5, 0.2, 3, 0, 20)})
    >>> found[1].value > 0.5 > found[2].value
    True
    """
    if not records:
        return {}
    order = sorted(records)
    columns = [
        _percentiles([records[id].importance for id in order]),
        _percentiles([records[id].earliness for id in order]),
        _percentiles([records[id].in_stories / max(records[id].reports, 1) for id in order]),
        _percentiles([records[id].originals / max(records[id].reports, 1) for id in order]),
        _percentiles([(records[id].stars + STARS_BEFORE) / (records[id].reads + READS_BEFORE) for id in order]),
    ]
    found = {}
    for place, id in enumerate(order):
        parts = [float(column[place]) for column in columns]
        known = records[id].in_stories / (records[id].in_stories + MIN_REPORTS)
        found[id] = Authority(known * sum(parts) / len(parts) + (1 - known) / 2, *parts)
    return found


def _percentiles(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Mean rank of each value, scaled to 0 to 1; ties share one."""
    if len(values) == 1:
        return np.array([0.5])
    _, place, equals = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(equals) - equals
    ranks: np.ndarray[tuple[int], np.dtype[np.float64]] = (below + (equals - 1) / 2)[place] / (len(values) - 1)
    return ranks
