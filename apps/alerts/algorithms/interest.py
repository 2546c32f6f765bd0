"""What standing searches make of the worth of sources, without taking more than a share from all others."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MAX_TIMES = 9.0  # times the worth that a source has without any search: three times as many retrievals
MAX_OF_A_PERSON = 10.0  # importance of all their searches together
_ROUNDS = 60  # of halving: more digits than a float has


def counted_importance(importance: FloatArray, owners: NDArray[np.int64]) -> FloatArray:
    """What each search counts: its importance, of all searches of a person together at most ten.

    CAM takes the importance of a query as given. Here people say themselves how important theirs are, so nobody gains
    by keeping more of them.

    Parameters
    ----------
    importance : array (m,)
        What its owner says that a search is worth, 0 to 10; 1 is usual.
    owners : array (m,)

    Returns
    -------
    array (m,)

    Examples
    --------
    >>> counted_importance(np.array([10.0, 10.0, 4.0]), np.array([7, 7, 9])).tolist()
    [5.0, 5.0, 4.0]
    """
    _, owner = np.unique(owners, return_inverse=True)
    said = np.bincount(owner, weights=importance)[owner]
    return np.asarray(importance * np.minimum(1, MAX_OF_A_PERSON / np.maximum(said, 1e-12)))


def interests(weights: FloatArray, claims: FloatArray, most_share: float) -> FloatArray:
    """The factor on the worth of each source: 1 + k W, with k as large as it may be.

    At one price a source is asked in proportion to its claim, the root of its worth times the mass of the root of its
    rate. A factor i raises that by its root, and as the retrievals stay as many, all others get less: so k is bounded
    by ``sum(claims * sqrt(i)) <= sum(claims) / (1 - most_share)``, and the greatest factor is nine.

    Parameters
    ----------
    weights : array (n,)
        W of CAM: the sum over searches of what each counts x the relevance of the source to it; in any unit.
    claims : array (n,)
        Of each source without any search.
    most_share : float
        Of the retrievals of a source that nobody searches, how many it may lose, 0 to below 1. It waits longer by
        s / (1 - s) of its delay then.

    Returns
    -------
    array (n,)
        From 1 to 9, rounded to hundredths: smaller changes are worth no new plan.

    References
    ----------
    S. Pandey, K. Ramamritham, S. Chakrabarti, "Monitoring the dynamic web to respond to continuous queries", WWW 2003.

    Examples
    --------
    >>> interests(np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 98.0]), 0.1).tolist()
    [9.0, 5.0, 1.0]
    >>> interests(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 0.1).round(1).tolist()
    [1.5, 1.0]
    """
    most = float(weights.max(initial=0.0))
    if most <= 0 or most_share <= 0:
        return np.ones(len(weights))
    wishes = weights / most
    bound = claims.sum() / (1 - most_share)
    low, high = 0.0, MAX_TIMES - 1
    if np.sum(claims * np.sqrt(1 + high * wishes)) > bound:
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            fits = np.sum(claims * np.sqrt(1 + middle * wishes)) <= bound
            low, high = (middle, high) if fits else (low, middle)
        high = low
    return np.asarray(np.floor(100 * (1 + high * wishes) + 1e-9) / 100)
