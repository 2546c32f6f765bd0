"""What a plan is worth: recorded postings against the retrieval times of their sources under the plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray
from apps.retrieval.algorithms.timetables import Timetable
from apps.retrieval.algorithms.traces import Trace


class Reactive(Protocol):
    """A plan that reacts to the result of each retrieval."""

    def next(self, sources: IntArray, previous: FloatArray, now: FloatArray) -> FloatArray:
        """The next retrieval times; shape (k,).

        Parameters
        ----------
        sources : array (k,) of int
            Numbers of different sources that are being retrieved.
        previous, now : arrays (k,)
            The hours of each one's previous retrieval and of this one. A plan may use no posting later than `now`.
        """
        ...


@dataclass(frozen=True)
class Outcome:
    """What readers of a simulated stretch of time got."""

    delays: FloatArray  # h, one per posting published in the stretch
    retrievals: float
    times: Sequence[FloatArray] = ()  # of each source's retrievals, until once at or after the end


def simulate_timetables(test: Trace, timetables: Sequence[Timetable], start: float, end: float) -> Outcome:
    """The outcome of periodic retrievals for the postings of `test`, all in [start, end).

    A posting after the last retrieval waits for the first one past the end; its delay is not cut there. Retrievals are
    counted as the plan's rate times the stretch, so that fractions of a period are fair.
    """
    made = [
        np.append(timetable.between(start, end), _at_or_after(timetable, np.array([end]))) for timetable in timetables
    ]
    retrievals = sum(timetable.per_day for timetable in timetables) * (end - start) / 24
    return replace(simulate_times(test, made), retrievals=retrievals)


def _at_or_after(timetable: Timetable, moments: FloatArray) -> FloatArray:
    """The first retrieval not before each moment.

    >>> _at_or_after(Timetable(np.array([6.0, 18.0]), period=24.0), np.array([0.0, 6.0, 30.5])).tolist()
    [6.0, 6.0, 42.0]
    """
    periods, phase = np.divmod(moments, timetable.period)
    position = np.searchsorted(timetable.times, phase, side="left")
    following = np.append(timetable.times, timetable.times[0] + timetable.period)[position]
    return np.asarray(periods * timetable.period + following)


def simulate_reactive(
    test: Trace, plan: Reactive, start: float, end: float, *, least_gap: float, phases: FloatArray
) -> Outcome:
    """The outcome of a reactive plan, which begins as if every source had been retrieved at `start`.

    `phases` in [0, 1), shape (n,), scale each source's first gap, so that the sources do not begin in step; no gap is
    shorter than `least_gap` hours. Each source is retrieved until once at or after `end`.
    """
    everyone = np.arange(len(test))
    begin = np.full(len(test), start)
    first = plan.next(everyone, begin, begin)
    first = start + np.maximum(phases * (first - start), least_gap)
    return simulate_times(test, _retrieval_times(plan, first, start, end, least_gap))


def simulate_times(test: Trace, retrievals: Sequence[FloatArray]) -> Outcome:
    """The outcome of each source's retrievals, in ascending order, none of its postings later than the last of them."""
    delays = []
    for times, retrieved_at in zip(test.parts, retrievals, strict=True):
        delays.append(retrieved_at[np.searchsorted(retrieved_at, times, side="left")] - times)
    return Outcome(np.concatenate(delays), float(sum(map(len, retrievals))), retrievals)


def _retrieval_times(plan: Reactive, first: FloatArray, start: float, end: float, least_gap: float) -> list[FloatArray]:
    """Those of each source, the first at or after `end` included. In each round every source is retrieved once."""
    sources, previous, now = np.arange(first.size), np.full(first.size, start), first
    source_rounds, time_rounds = [sources], [now]
    while True:
        running = now < end
        sources, previous, now = sources[running], previous[running], now[running]
        if not sources.size:
            break
        following = np.maximum(plan.next(sources, previous, now), now + least_gap)
        previous, now = now, following
        source_rounds.append(sources)
        time_rounds.append(now)
    all_sources, all_times = np.concatenate(source_rounds), np.concatenate(time_rounds)
    order = np.argsort(all_sources, kind="stable")  # rounds are in order of time, so each source's times stay sorted
    borders = np.cumsum(np.bincount(all_sources, minlength=first.size))[:-1]
    return np.split(all_times[order], borders)


def matching(
    outcome_of: Callable[[float], Outcome],
    retrievals: float,
    *,
    first: float,
    exponent: float = 1.0,
    tolerance: float = 0.002,
    rounds: int = 12,
) -> tuple[float, Outcome]:
    """Adjust a policy's one scalar until it makes the given number of retrievals; the scalar and its outcome.

    The retrievals go about as `scalar ** exponent`; the search is a secant on logarithms inside a closing bracket.
    Where a bound keeps the policy from the budget, the nearest outcome is returned.
    """
    scalar, low, high = np.log(first), -np.inf, np.inf
    best: tuple[float, float, Outcome] | None = None
    slope, former = exponent, None
    for _ in range(rounds):
        outcome = outcome_of(float(np.exp(scalar)))
        error = float(np.log(max(outcome.retrievals, 1e-9) / retrievals))
        if best is None or abs(error) < best[0]:
            best = (abs(error), float(np.exp(scalar)), outcome)
        if abs(error) <= tolerance:
            break
        if former and scalar != former[0] and (measured := (error - former[1]) / (scalar - former[0])) * exponent > 0:
            slope = measured if abs(measured) > abs(exponent) / 8 else exponent / 8
        former = (scalar, error)
        low, high = (scalar, high) if error * exponent < 0 else (low, scalar)
        step = float(np.clip(-error / slope, -2.0, 2.0))
        scalar += step
        if not low < scalar < high:
            scalar = (low + high) / 2 if np.isfinite(low + high) else scalar
    assert best is not None
    return best[1], best[2]
