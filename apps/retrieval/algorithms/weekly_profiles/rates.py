"""Posting rates by empirical Bayes: a source of which little is known is estimated to be like the others."""

from dataclasses import dataclass

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray

GRID = 70  # candidate rates
MIN_RATE = 1e-3  # postings per week
ROUNDS = 300


@dataclass(frozen=True)
class RatePrior:
    """How the rates of all sources are spread: `shares[g]` of them post `rates[g]` times a week."""

    rates: FloatArray  # postings per week, shape (g,)
    shares: FloatArray  # shape (g,), sum 1

    def posterior_mean(self, counts: FloatArray, weeks: FloatArray) -> FloatArray:
        """Expected postings per week of sources with these counts in these exposures, shapes (n,).

        It is positive even for a count of 0, and for an exposure of 0 it is the mean of all sources.
        """
        likelihood = _likelihood(self.rates, counts, weeks)
        weighted = likelihood * self.shares
        # A count far beyond all others has no likelihood under the prior: its own nearest rate counts.
        weighted = np.where(weighted.sum(axis=1, keepdims=True) > 1e-280, weighted, likelihood)
        return np.asarray(weighted @ self.rates / weighted.sum(axis=1))


def fit_rates(counts: FloatArray, weeks: FloatArray) -> RatePrior:
    """The non-parametric prior of Poisson rates that makes the counts likeliest, by expectation maximisation.

    Parameters
    ----------
    counts : array (n,), >= 0
        Postings seen of each source; fractions are allowed (postings whose time is known only in part).
    weeks : array (n,), > 0
        How long each source was seen.

    Notes
    -----
    Robbins' empirical Bayes with the likelihood maximised over a fixed grid (Laird 1978).

    Examples
    --------
    >>> prior = fit_rates(np.array([0.0, 0.0, 0.0, 40.0]), np.full(4, 2.0))
    >>> low, high = prior.posterior_mean(np.array([0.0, 40.0]), np.full(2, 2.0))
    >>> bool(0 < low < 0.1), bool(15 < high < 25)
    (True, True)
    """
    if counts.size == 0:
        return RatePrior(np.array([1.0]), np.array([1.0]))
    highest = max(1.5 * float((counts / weeks).max()), 10 * MIN_RATE)
    prior = RatePrior(np.geomspace(MIN_RATE, highest, GRID), np.full(GRID, 1 / GRID))
    likelihood = _likelihood(prior.rates, counts, weeks)
    shares = prior.shares
    for _ in range(ROUNDS):
        responsibilities = likelihood * shares
        shares = (responsibilities / responsibilities.sum(axis=1, keepdims=True)).mean(axis=0)
    return RatePrior(prior.rates, shares)


def _likelihood(rates: FloatArray, counts: FloatArray, weeks: FloatArray) -> FloatArray:
    """Poisson likelihoods up to a factor per source, shape (n, g); the largest of each source is 1."""
    logarithms = counts[:, None] * np.log(rates) - weeks[:, None] * rates
    return np.asarray(np.exp(logarithms - logarithms.max(axis=1, keepdims=True)))
