"""How late postings are expected to be retrieved, by the model of Sia, Cho and Cho, section 2; times in hours."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.profiles import Profile


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


def downward_crossings(profile: Profile) -> FloatArray:
    """The times in [0, period) at which the rate falls from above its mean to the mean or below, ascending.

    Empty where the rate never leaves its mean.
    """
    above = profile.rates > profile.rates.mean()
    return np.asarray(profile.edges[:-1][np.roll(above, 1) & ~above])


def optimal_single_time(profile: Profile) -> float:
    """The time of the one retrieval per period that minimises the expected delay.

    By Theorem 2 the rate equals its mean there and falls. A rate constant within bins does so at edges only; the best
    of them is the optimum. If the rate is constant, every time is optimal and 0 is returned.

    Examples
    --------
    >>> optimal_single_time(Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0))
    18.0
    """
    return float(min(downward_crossings(profile), key=lambda time: expected_delay(profile, [time]), default=0.0))


def mean_age(postings: ArrayLike, retrievals: ArrayLike, start: float, end: float) -> float:
    """Time average over [start, end], of the hours since the earliest posting not yet retrieved: of A(O; t).

    Examples
    --------
    >>> mean_age([1.0, 2.0], retrievals=[3.0, 4.0], start=0.0, end=4.0)  # it grows from 0 to 2 within two hours
    0.5
    """
    since, stale_from, stale_until = _stale_intervals(postings, retrievals, start, end)
    return float(((stale_until - since) ** 2 - (stale_from - since) ** 2).sum() / 2 / (end - start))


def mean_freshness(postings: ArrayLike, retrievals: ArrayLike, start: float, end: float) -> float:
    """Share of [start, end] in which nothing is pending.

    Examples
    --------
    >>> mean_freshness([1.0, 2.0], retrievals=[3.0, 4.0], start=0.0, end=4.0)
    0.5
    """
    _, stale_from, stale_until = _stale_intervals(postings, retrievals, start, end)
    return float(1 - (stale_until - stale_from).sum() / (end - start))


def _stale_intervals(
    postings: ArrayLike, retrievals: ArrayLike, start: float, end: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Earliest pending posting of each gap between retrievals, and where its wait lies within [start, end]."""
    postings = np.asarray(postings, dtype=np.float64)
    begin, until = np.append(-np.inf, retrievals), np.append(retrievals, np.inf)
    earliest = np.append(postings, np.inf)[np.searchsorted(postings, begin, side="right")]
    stale_from, stale_until = np.maximum(earliest, start), np.minimum(until, end)
    stale = stale_from < stale_until
    return earliest[stale], stale_from[stale], stale_until[stale]
