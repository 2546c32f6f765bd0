"""How postings are spread over the hours of the day or the days of the week, learned from all sources together."""

from dataclasses import dataclass

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.sia.learning import k_means
from apps.retrieval.algorithms.weekly_profiles.gamma import digamma, log_gamma

ROUNDS = 40
MIN_POSTINGS = 5  # postings of a source from which its shares help to find the first clusters
FIRST_CONCENTRATION = 30.0
SMALLEST, LARGEST = 1e-3, 1e4  # of a Dirichlet's parameters


@dataclass(frozen=True)
class SharesPrior:
    """A mixture of K Dirichlet distributions over B bins."""

    concentrations: FloatArray  # (k, b)
    weights: FloatArray  # (k,), sum 1

    def posterior_mean(self, counts: FloatArray) -> FloatArray:
        """Expected shares of sources with these counts; shapes (n, b). Without any postings: the mean of all."""
        responsibilities = self._responsibilities(counts)
        totals = counts.sum(axis=1)
        shares = np.zeros_like(counts)
        for weight, concentration in zip(responsibilities.T, self.concentrations, strict=True):
            shares += (weight / (totals + concentration.sum()))[:, None] * (counts + concentration)
        return shares

    def _responsibilities(self, counts: FloatArray) -> FloatArray:
        totals = counts.sum(axis=1)
        logarithms = np.empty((len(counts), len(self.weights)))
        for k, alpha in enumerate(self.concentrations):
            logarithms[:, k] = (
                np.log(self.weights[k] + 1e-300) + log_gamma(alpha.sum()) - log_gamma(alpha.sum() + totals)
            )
            logarithms[:, k] += (log_gamma(alpha + counts) - log_gamma(alpha)).sum(axis=1)
        weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_shares(counts: FloatArray, clusters: int, random: np.random.Generator) -> SharesPrior:
    """The mixture of Dirichlets that makes the counts likeliest.

    Parameters
    ----------
    counts : array (n, b), >= 0
        Postings of each source in each bin.
    clusters : int
        K; fewer where there are fewer sources.

    Notes
    -----
    Expectation maximisation from clusters of smoothed shares; the parameters move by two steps a round of the fixed
    point of Minka, "Estimating a Dirichlet distribution" (2000), equation 55.

    Examples
    --------
    >>> day_and_night = np.array([[20.0, 0.0], [18.0, 1.0], [0.0, 25.0], [1.0, 30.0]] * 5)
    >>> prior = fit_shares(day_and_night, 2, np.random.default_rng(1))
    >>> prior.posterior_mean(np.array([[3.0, 0.0]])).round(1).tolist()
    [[1.0, 0.0]]
    """
    known = counts[counts.sum(axis=1) > 0]
    bins = counts.shape[1]
    if not len(known):
        return SharesPrior(np.full((1, bins), 1.0), np.ones(1))
    prior = SharesPrior(FIRST_CONCENTRATION * _first_centres(known, clusters, random), np.ones(1))
    prior = SharesPrior(prior.concentrations, np.full(len(prior.concentrations), 1 / len(prior.concentrations)))
    totals = known.sum(axis=1)
    for _ in range(ROUNDS):
        responsibilities = prior._responsibilities(known)
        concentrations = prior.concentrations.copy()
        for k, weight in enumerate(responsibilities.T):
            for _ in range(2):
                alpha = concentrations[k]
                above = weight @ (digamma(known + alpha) - digamma(alpha))
                below = weight @ (digamma(totals + alpha.sum()) - digamma(alpha.sum()))
                if below > 0:
                    concentrations[k] = np.clip(alpha * above / below, SMALLEST, LARGEST)
        prior = SharesPrior(concentrations, responsibilities.mean(axis=0))
    return prior


def _first_centres(counts: FloatArray, clusters: int, random: np.random.Generator) -> FloatArray:
    """Centres of k-means on smoothed shares; shape (at most clusters, b)."""
    totals = counts.sum(axis=1, keepdims=True)
    mean = (counts / totals).mean(axis=0)
    rich = totals[:, 0] >= MIN_POSTINGS
    shares = ((counts + mean) / (totals + 1))[rich] if rich.sum() >= 2 else (counts + mean) / (totals + 1)
    return k_means(shares, min(clusters, len(shares)), random=random)[0] + 1e-6
