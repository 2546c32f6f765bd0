"""How sharply a source keeps to its profiles: between the smooth shares of its kin and its very own counts.

Sia, Cho and Cho model a source's postings as a Poisson process with a smooth rate; CAM models them as updates at a few
update instants with probabilities. Most sources are the former, some the latter; the data of each decide how much.
"""

from dataclasses import dataclass

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray
from apps.retrieval.algorithms.weekly_profiles.gamma import log_gamma

STIFFNESS = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 400.0, 1e4)
ROUNDS = 60


@dataclass(frozen=True)
class Peaks:
    """How many prior postings the smooth shares are worth: `weights[k]` of all sources have `stiffness[k]`.

    A source's bins lie in groups (twelve slots of five minutes in each of 24 hours). Within a group, shares are
    Dirichlet with parameters stiffness * base, where the base's shares sum to 1 over all groups of the source.
    """

    weights: FloatArray  # (k,), sum 1
    stiffness: FloatArray  # (k,)

    def shares(self, counts: FloatArray, base: FloatArray) -> FloatArray:
        """Posterior shares within each group.

        Parameters
        ----------
        counts : array (n, g, b), >= 0
        base : array (n, g, b), > 0
            Expected shares; those of a source sum to 1.

        Returns
        -------
        array (n, g, b)
            They sum to 1 over b.

        Examples
        --------
        >>> counts, base = np.array([[[9.0, 0.0]], [[0.0, 0.0]]]), np.full((2, 1, 2), 0.5)
        >>> shares = Peaks(np.array([1.0]), np.array([2.0])).shares(counts, base)
        >>> shares[:, 0].round(2).tolist()
        [[0.91, 0.09], [0.5, 0.5]]
        """
        posterior = _evidence(counts, base, self.stiffness) * self.weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        group_base, group_counts = base.sum(axis=2), counts.sum(axis=2)
        shares = np.zeros_like(counts)
        for k, stiffness in enumerate(self.stiffness):
            own = (stiffness * base + counts) / (stiffness * group_base + group_counts)[:, :, None]
            shares += posterior[:, k, None, None] * own
        return shares


def fit_peaks(counts: FloatArray, base: FloatArray) -> Peaks:
    """The spread of stiffness over the population that makes the counts likeliest; shapes as in `Peaks.shares`.

    Expectation maximisation over a fixed grid of values.
    """
    stiffness = np.array(STIFFNESS)
    evidence = _evidence(counts, base, stiffness)
    weights = np.full(stiffness.size, 1 / stiffness.size)
    for _ in range(ROUNDS if len(counts) else 0):
        posterior = evidence * weights
        weights = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
    return Peaks(np.maximum(weights, 1e-12), stiffness)


def _evidence(counts: FloatArray, base: FloatArray, stiffness: FloatArray) -> FloatArray:
    """Likelihood of each source's counts at each stiffness up to a factor per source, shape (n, k)."""
    group_base, group_counts = base.sum(axis=2), counts.sum(axis=2)
    evidence = np.empty((len(counts), stiffness.size))
    for k, value in enumerate(stiffness):
        evidence[:, k] = (log_gamma(value * group_base) - log_gamma(value * group_base + group_counts)).sum(axis=1)
        evidence[:, k] += (log_gamma(value * base + counts) - log_gamma(value * base)).sum(axis=(1, 2))
    return np.asarray(np.exp(evidence - evidence.max(axis=1, keepdims=True)))
