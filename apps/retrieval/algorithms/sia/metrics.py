"""How late, how fresh, how old: the metrics of Sia, Cho and Cho, section 2, and what their model expects of them.

All times are in hours. A posting that appears at the very time of a retrieval is retrieved by it, without delay.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.profiles import Profile


def delays(postings: ArrayLike, retrievals: ArrayLike) -> FloatArray:
    """Hours that each posting waits for the first retrieval not before it; Definition 1.

    Parameters
    ----------
    postings : array (k,), in any order
    retrievals : array (m,), ascending

    Raises
    ------
    ValueError
        If a posting appears after the last retrieval.

    Examples
    --------
    >>> delays([1.0, 2.0, 5.0], retrievals=[2.0, 6.0]).tolist()
    [1.0, 0.0, 1.0]
    """
    postings, retrievals = np.asarray(postings, dtype=np.float64), np.asarray(retrievals, dtype=np.float64)
    following = np.searchsorted(retrievals, postings, side="left")
    if (following == retrievals.size).any():
        raise ValueError("a posting after the last retrieval is never retrieved")
    return np.asarray(retrievals[following] - postings)


def age(postings: ArrayLike, retrievals: ArrayLike, times: ArrayLike) -> FloatArray:
    """A(O; t): hours since the earliest posting not yet retrieved, 0 if there is none.

    Before the first retrieval every posting so far is pending. `postings` and `retrievals` are ascending.

    Examples
    --------
    >>> age([1.0, 2.0], retrievals=[3.0], times=[0.5, 2.5, 3.0, 9.0]).tolist()
    [0.0, 1.5, 0.0, 0.0]
    """
    postings, times = np.asarray(postings, dtype=np.float64), np.asarray(times, dtype=np.float64)
    latest = np.append(-np.inf, retrievals)[np.searchsorted(retrievals, times, side="right")]
    earliest_pending = np.append(postings, np.inf)[np.searchsorted(postings, latest, side="right")]
    return np.asarray(np.maximum(times - earliest_pending, 0.0))


def freshness(postings: ArrayLike, retrievals: ArrayLike, times: ArrayLike) -> FloatArray:
    """F(O; t): 0 while a posting is pending, from its publication on, else 1; `postings`, `retrievals` ascending.

    Examples
    --------
    >>> freshness([1.0, 2.0], retrievals=[3.0], times=[0.5, 1.0, 2.5, 3.0]).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    seen = np.append(0, np.searchsorted(postings, retrievals, side="right"))
    known = seen[np.searchsorted(retrievals, times, side="right")]
    return np.asarray(known == np.searchsorted(postings, times, side="right"), dtype=np.float64)


def mean_age(postings: ArrayLike, retrievals: ArrayLike, start: float, end: float) -> float:
    """Time average of `age` over [start, end], in hours.

    Examples
    --------
    >>> mean_age([1.0, 2.0], retrievals=[3.0, 4.0], start=0.0, end=4.0)  # it grows from 0 to 2 within two hours
    0.5
    """
    since, stale_from, stale_until = _stale_stretches(postings, retrievals, start, end)
    return float(((stale_until - since) ** 2 - (stale_from - since) ** 2).sum() / 2 / (end - start))


def mean_freshness(postings: ArrayLike, retrievals: ArrayLike, start: float, end: float) -> float:
    """Share of [start, end] in which nothing is pending.

    Examples
    --------
    >>> mean_freshness([1.0, 2.0], retrievals=[3.0, 4.0], start=0.0, end=4.0)
    0.5
    """
    _, stale_from, stale_until = _stale_stretches(postings, retrievals, start, end)
    return float(1 - (stale_until - stale_from).sum() / (end - start))


def _stale_stretches(
    postings: ArrayLike, retrievals: ArrayLike, start: float, end: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Earliest pending posting of each gap between retrievals, and where its wait lies within [start, end]."""
    postings = np.asarray(postings, dtype=np.float64)
    begin, until = np.append(-np.inf, retrievals), np.append(retrievals, np.inf)
    earliest = np.append(postings, np.inf)[np.searchsorted(postings, begin, side="right")]
    stale_from, stale_until = np.maximum(earliest, start), np.minimum(until, end)
    stale = stale_from < stale_until
    return earliest[stale], stale_from[stale], stale_until[stale]


def within_period(times: ArrayLike, period: float) -> FloatArray:
    """Times modulo the period, ascending along the last axis; also those that rounding takes to the period itself.

    >>> within_period([25.0, -1e-20], 24.0).tolist()
    [0.0, 1.0]
    """
    phases = np.mod(np.asarray(times, dtype=np.float64), period)
    return np.sort(np.where(phases < period, phases, 0.0), axis=-1)


def integrated_expectation(profile: Profile, times: ArrayLike) -> Any:
    """J(t): the integral of `profile.expected` from time 0, in posting-hours.

    The expected delay between two times is J(b) - J(a) - L(a) (b - a), by parts. Far from time 0 the difference
    loses digits: shift both by whole periods first.
    """
    periods, phase = np.divmod(np.asarray(times, dtype=np.float64), profile.period)
    levels = profile.cumulated
    at_edges = np.append(0.0, np.cumsum((levels[:-1] + levels[1:]) / 2 * profile.bin_hours))
    bins = np.minimum((phase / profile.bin_hours).astype(np.int64), profile.rates.size - 1)
    inside = phase - profile.edges[bins]
    within = at_edges[bins] + levels[bins] * inside + profile.rates[bins] * inside**2 / 2
    before = profile.total * (profile.period * periods * (periods - 1) / 2 + periods * phase)
    return before + periods * at_edges[-1] + within


def expected_delay_between(profile: Profile, start: ArrayLike, end: ArrayLike) -> Any:
    """Posting-hours that the postings of [start, end] are expected to wait in all if retrieved at `end`; Lemma 1.

    Parameters
    ----------
    profile : Profile
    start, end : arrays of hours that broadcast, start <= end

    Examples
    --------
    Half a posting an hour for four hours (Corollary 1: rate * gap ** 2 / 2).

    >>> float(expected_delay_between(Profile(np.full(24, 0.5), period=24.0), 10.0, 14.0))
    4.0
    """
    start = np.asarray(start, dtype=np.float64)
    shift = np.floor(start / profile.period) * profile.period
    start, end = start - shift, np.asarray(end, dtype=np.float64) - shift
    rise = integrated_expectation(profile, end) - integrated_expectation(profile, start)
    return rise - profile.expected(start) * (end - start)


def expected_delay(profile: Profile, times: ArrayLike) -> float:
    """Posting-hours that a period's postings are expected to wait with retrievals at these times of every period.

    Divided by `profile.total` it is the mean delay of a posting in hours.

    Parameters
    ----------
    profile : Profile
    times : array (m,), m >= 1, ascending, the last less than a period after the first

    Raises
    ------
    ValueError
        If there is no retrieval, or the times are not ascending within one period.

    References
    ----------
    K. C. Sia, J. Cho, H.-K. Cho, "Efficient Monitoring Algorithm for Fast News Alerts", IEEE TKDE 19(7), 2007, Lemma 1.

    Examples
    --------
    Example 1 of the paper: an hour with one posting, an hour with none; the best, an average and the worst time.

    >>> source = Profile(np.array([1.0, 0.0]), period=2.0)
    >>> expected_delay(source, [1.0]), expected_delay(source, [1.5]), expected_delay(source, [0.0])
    (0.5, 1.0, 1.5)
    """
    times = np.asarray(times, dtype=np.float64)
    if not times.size:
        raise ValueError("without a retrieval the delay has no end")
    if (np.diff(times) < 0).any() or times[-1] - times[0] > profile.period:
        raise ValueError("the times must be ascending and lie within one period")
    following = np.append(times[1:], times[0] + profile.period)
    return float(expected_delay_between(profile, times, following).sum())
