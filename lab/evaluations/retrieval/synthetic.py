"""Postings of made-up sources whose true rates are known."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.simulation.comparison import LEARNING_WEEKS
from apps.retrieval.algorithms.traces import Trace
from lab.evaluations.retrieval.folds import TEST_WEEKS, NamedFold

FloatArray = NDArray[np.float64]
Variant = Literal["poisson", "drift", "bursts"]

VARIANTS: tuple[Variant, ...] = get_args(Variant)
SOURCES = 800
MEAN_RATE = 2.6  # postings a day
LEAST_RATE, HIGHEST_RATE, RATE_EXPONENT = 0.02, 150.0, 0.45  # of the power law, before it is scaled to the mean
CONCENTRATION = 40.0  # of a source's hours about its shape; higher is closer
MOVED, FARTHEST_MOVE = 0.35, 6  # the share of sources whose day is shifted, by up to so many hours
WEEKDAYS = np.array([0.67, 1.12, 1.18, 1.17, 1.16, 1.08, 0.62])  # from Sunday on
DRIFT, MEMORY = 0.5, 0.9  # deviation of the weekly factor's logarithm, and how much of it lasts to the next week
SILENT = 0.03  # share of weeks without any posting
CHILDREN, CHILD_LAG = 0.5, 1.0  # mean number of further postings that each posting causes, and mean hours until then


def generate(
    variant: Variant, *, sources: int = SOURCES, weeks: int = LEARNING_WEEKS + TEST_WEEKS, seed: int = 0
) -> tuple[Trace, list[Profile]]:
    """Postings from hour 0 on, and each source's true mean weekly rate.

    `poisson`: the rates repeat every week. `drift`: a weekly factor wanders, and some weeks are silent. `bursts`: with
    half of the drifting rates, every posting causes half a further posting within hours.

    Examples
    --------
    >>> trace, profiles = generate("poisson", sources=50)
    >>> len(trace), round(float(np.mean([profile.total for profile in profiles])) / 7, 6)
    (50, 2.6)
    """
    random = np.random.default_rng(seed)
    shares = _weekly_shares(sources, random)
    weekly = 7 * _rates(sources, random)
    factors = np.ones((sources, weeks)) if variant == "poisson" else _drift(sources, weeks, random)
    if variant == "bursts":
        factors *= 1 - CHILDREN
    counts = random.poisson(weekly[:, None] * factors)
    parts = [_times(share, count, random) for share, count in zip(shares, counts, strict=True)]
    if variant == "bursts":
        parts = [_with_children(times, weeks * WEEK, random) for times in parts]
    trace = Trace.of([str(number) for number in range(sources)], parts)
    return trace, [Profile(total * share) for total, share in zip(weekly, shares, strict=True)]


def synthetic_fold(variant: Variant, *, sources: int = SOURCES, seed: int = 0) -> NamedFold:
    """The fold `synthetic`: two weeks to learn from, six to be tested on, and the true rates."""
    trace, profiles = generate(variant, sources=sources, seed=seed)
    start = LEARNING_WEEKS * WEEK
    return NamedFold(trace, start, start + TEST_WEEKS * WEEK, name="synthetic", profiles=profiles)


def _bump(centre: float, width: float) -> FloatArray:
    distance = np.abs(np.arange(24) + 0.5 - centre)
    return np.asarray(np.exp(-(np.minimum(distance, 24 - distance) ** 2) / (2 * width**2)))


def _daily_shapes() -> FloatArray:
    shapes = np.array([
        np.ones(24),
        _bump(14, 3.5) + 0.1,
        _bump(10, 2.5) + 0.15,
        _bump(20, 2.5) + 0.2,
        _bump(16, 4) + 0.05,
        _bump(9, 1.2) + 0.08,
        _bump(23, 2) + 0.15,
        _bump(12, 1) + _bump(18, 1.2) + 0.1,
        _bump(6, 0.8) + 0.03,
        _bump(17, 0.6) + 0.03,
        _bump(3, 3) + 0.2,
        _bump(8, 1.5) + 0.7 * _bump(15, 3) + 0.05,
    ])  # fmt: skip
    return np.asarray(shapes / shapes.sum(axis=1, keepdims=True))


def _weekly_shares(sources: int, random: np.random.Generator) -> FloatArray:
    """The share of each hour of the week in a source's postings, shape (sources, 168)."""
    shapes = _daily_shapes()
    chosen = random.integers(len(shapes), size=sources)
    hours = np.array([random.dirichlet(CONCENTRATION * shapes[shape] + 0.001) for shape in chosen])
    moves = np.where(random.random(sources) < MOVED, random.integers(-FARTHEST_MOVE, FARTHEST_MOVE + 1, sources), 0)
    hours = np.array([np.roll(row, move) for row, move in zip(hours, moves, strict=True)])
    strength = random.beta(2, 1.2, size=(sources, 1))
    days = np.maximum(1 + 1.6 * strength * (WEEKDAYS - 1), 0.05)
    days /= days.sum(axis=1, keepdims=True)
    return np.asarray((days[:, :, None] * hours[:, None, :]).reshape(sources, -1))


def _rates(sources: int, random: np.random.Generator) -> FloatArray:
    """Postings a day by a power law cut off at both ends, scaled to the mean."""
    span = 1 - (LEAST_RATE / HIGHEST_RATE) ** RATE_EXPONENT
    rates = LEAST_RATE * (1 - random.random(sources) * span) ** (-1 / RATE_EXPONENT)
    return np.asarray(rates * MEAN_RATE / rates.mean())


def _drift(sources: int, weeks: int, random: np.random.Generator) -> FloatArray:
    level = DRIFT * random.standard_normal(sources)
    levels = [level]
    for _ in range(weeks - 1):
        level = MEMORY * level + np.sqrt(1 - MEMORY**2) * DRIFT * random.standard_normal(sources)
        levels.append(level)
    factors = np.exp(np.stack(levels, axis=1) - DRIFT**2 / 2)
    return np.asarray(factors * (random.random(factors.shape) >= SILENT))


def _times(share: FloatArray, counts: NDArray[np.int64], random: np.random.Generator) -> FloatArray:
    cumulated = np.concatenate(([0.0], np.cumsum(share)))
    week = np.repeat(np.arange(counts.size), counts)
    within = np.interp(random.random(week.size) * cumulated[-1], cumulated, np.arange(cumulated.size))
    return np.asarray(week * WEEK + within)


def _with_children(times: FloatArray, end: float, random: np.random.Generator) -> FloatArray:
    generations = [times]
    while generations[-1].size:
        parents = np.repeat(generations[-1], random.poisson(CHILDREN, generations[-1].size))
        generations.append(parents + random.exponential(CHILD_LAG, parents.size))
    all_times = np.concatenate(generations)
    return all_times[all_times < end]
