"""Age-optimal and freshness-optimal frequencies: the policies that Sia, Cho and Cho compare theirs with.

Both know the rate of each source only and space retrievals evenly. J. Cho, H. Garcia-Molina, "Effective Page Refresh
Policies for Web Crawlers", ACM TODS 28(4), 2003. With r = rate / frequency, the postings expected between retrievals,
a source's mean freshness is (1 - exp(-r)) / r and its mean age (1/2 - 1/r + (1 - exp(-r)) / r**2) / frequency.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.algorithms.sia.allocation import allocate, checked
from apps.retrieval.algorithms.sia.learning import Learned
from apps.retrieval.algorithms.sia.policies import Rule, evenly_spaced

MIN_RATIO, MAX_RATIO, ENTRIES = 1e-6, 1e6, 12_000  # of the tables over r
HALVINGS = 200


def age_optimal_frequencies(
    rates: ArrayLike, total: float, *, weights: ArrayLike = 1.0, least: ArrayLike = 0.0, most: ArrayLike = np.inf
) -> FloatArray:
    """Retrievals per source that minimise the weighted sum of mean ages.

    At the optimum the age that one more retrieval saves is the same for all sources within their bounds.

    Parameters
    ----------
    rates : array (n,), >= 0
        Postings per unit of the time to which `total`, `least` and `most` refer.
    total : float
    weights, least, most : numbers or arrays (n,)

    Returns
    -------
    frequencies : array (n,) with sum `total`
        Sources that never post get their least, unless the others cannot use the rest.

    Raises
    ------
    ValueError
        If a rate or weight is negative, or the total does not lie between the sums of the bounds.

    Examples
    --------
    >>> age_optimal_frequencies([1.0, 2.0, 3.0, 4.0, 5.0], total=5.0).round(2).tolist()
    [0.83, 0.97, 1.03, 1.07, 1.09]
    """
    # Saved age per retrieval: weight * _age_gain(r) / rate**2.
    rates, weights = checked(rates, weights)
    scales = np.divide(weights, rates**2, out=np.zeros_like(rates), where=rates > 0)
    return _frequencies(rates, scales, total, least, most, _ratio_by_age_gain)


def freshness_optimal_frequencies(
    rates: ArrayLike, total: float, *, weights: ArrayLike = 1.0, least: ArrayLike = 0.0, most: ArrayLike = np.inf
) -> FloatArray:
    """Retrievals per source that maximise the weighted sum of mean freshness.

    Sources that post too often to be kept fresh get their least. Parameters, result and errors are those of
    `age_optimal_frequencies`.

    Examples
    --------
    >>> freshness_optimal_frequencies([1.0, 2.0, 3.0, 4.0, 5.0], total=5.0).round(2).tolist()
    [1.15, 1.36, 1.35, 1.14, 0.0]
    """
    rates, weights = checked(rates, weights)
    scales = np.divide(weights, rates, out=np.zeros_like(rates), where=rates > 0)
    return _frequencies(rates, scales, total, least, most, _ratio_by_freshness_gain)


def _age_optimal(learned: Learned, total: float, weights: ArrayLike, least: ArrayLike, most: ArrayLike) -> FloatArray:
    return age_optimal_frequencies(learned.rates * DAY, total, weights=weights, least=least, most=most)


def _freshness_optimal(
    learned: Learned, total: float, weights: ArrayLike, least: ArrayLike, most: ArrayLike
) -> FloatArray:
    return freshness_optimal_frequencies(learned.rates * DAY, total, weights=weights, least=least, most=most)


# For raw rates, evenly spaced.
cgm_age = Rule(_age_optimal, evenly_spaced)
cgm_freshness = Rule(_freshness_optimal, evenly_spaced)


def _frequencies(
    rates: FloatArray,
    scales: FloatArray,
    total: float,
    least: ArrayLike,
    most: ArrayLike,
    ratio: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Bisect the price at which the sources whose scale is positive together want `total` retrievals.

    At price p a source wants rate / ratio(p / scale), clipped to its bounds.
    """

    def shares(scales: FloatArray, total: float, least: FloatArray, most: FloatArray) -> FloatArray:
        def wanted(log_price: float) -> FloatArray:
            return np.clip(posting / ratio(np.exp(log_price) / scales), least, most)

        dear, cheap = np.log(scales.max()) + 40.0, np.log(scales.min()) - 60.0
        for _ in range(HALVINGS):
            middle = (dear + cheap) / 2
            dear, cheap = (dear, middle) if wanted(middle).sum() > total else (middle, cheap)
        few, many = wanted(dear), wanted(cheap)
        # Where freshness hardly depends on the frequency the last bit of the price is coarse: mix both sides of it.
        room = many.sum() - few.sum()
        return few + (many - few) * (np.clip((total - few.sum()) / room, 0.0, 1.0) if room > 0 else 0.0)

    posting = rates[scales > 0]
    return allocate(scales, total, least, most, lambda *given: shares(*given) if posting.size else given[2])


def _ratio_by_freshness_gain(gains: FloatArray) -> FloatArray:
    """The r at which 1 - exp(-r) - r exp(-r) is the gain; infinite from 1 on."""
    ratios, freshness_gains, _ = _tables()
    found = np.exp(np.interp(np.log(gains), np.log(freshness_gains), np.log(ratios)))
    return np.where(gains >= 1, np.inf, found)


def _ratio_by_age_gain(gains: FloatArray) -> FloatArray:
    """The r at which r**2 / 2 + r exp(-r) - (1 - exp(-r)) is the gain."""
    ratios, _, age_gains = _tables()
    return np.exp(np.interp(np.log(gains), np.log(age_gains), np.log(ratios)))


@cache
def _tables() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ratios r and, for each, r**2 and rate times what a little more frequency gains in age and in freshness."""
    r = np.geomspace(MIN_RATIO, MAX_RATIO, ENTRIES)
    # The closed forms cancel for small r: there their series.
    small = r < 1e-2
    series = r**2 / 2 - r**3 / 3 + r**4 / 8 - r**5 / 30 + r**6 / 144
    freshness = np.where(small, series, -np.expm1(-r) - r * np.exp(-r))
    age = np.where(small, r**3 / 3 - r**4 / 8 + r**5 / 30 - r**6 / 144, r**2 / 2 - freshness)
    return r, freshness, age
