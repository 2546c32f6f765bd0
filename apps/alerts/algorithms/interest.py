"""The interest of sources from saved searches, limited by the share that it takes from other sources."""

import numpy as np

from apps.retrieval.algorithms.arrays import FloatArray, IntArray

MAX_TIMES = 9.0  # factor on a source's worth: three times as many retrievals
MAX_OF_A_PERSON = 10.0  # sum of importance over a user's searches
_ROUNDS = 60  # of bisection: beyond the precision of a float


def counted_importance(importance: FloatArray, owners: IntArray) -> FloatArray:
    """The counted importance of each search, limited to ten over all searches of a user.

    CAM takes the importance of a query as given. Here users set it themselves, so saving more searches gains nothing.

    Parameters
    ----------
    importance : array (m,)
        Set by the owners, 0 to 10; 1 is the default.
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
    total = np.bincount(owner, weights=importance)[owner]
    return np.asarray(importance * np.minimum(1, MAX_OF_A_PERSON / np.maximum(total, 1e-12)))


def interests(weights: FloatArray, claims: FloatArray, max_share: float) -> FloatArray:
    """The factor on the worth of each source: 1 + k W, with the largest k allowed.

    At one price a source is retrieved in proportion to its claim, the root of its worth times the mass of the root of
    its rate. A factor i raises that by its root, and as the number of retrievals is fixed, all others get less: so k is
    bounded by ``sum(claims * sqrt(i)) <= sum(claims) / (1 - max_share)``, and the greatest factor is nine.

    Parameters
    ----------
    weights : array (n,)
        W of CAM: the sum over searches of what each counts x the relevance of the source to it; in any unit.
    claims : array (n,)
        Of each source without any search.
    max_share : float
        The share of its retrievals that a source without searches may lose, 0 to below 1. Its delay grows by
        s / (1 - s) then.

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
    if most <= 0 or max_share <= 0:
        return np.ones(len(weights))
    relative = weights / most
    bound = claims.sum() / (1 - max_share)
    low, high = 0.0, MAX_TIMES - 1
    if np.sum(claims * np.sqrt(1 + high * relative)) > bound:
        for _ in range(_ROUNDS):
            middle = (low + high) / 2
            fits = np.sum(claims * np.sqrt(1 + middle * relative)) <= bound
            low, high = (middle, high) if fits else (low, middle)
        high = low
    return np.asarray(np.floor(100 * (1 + high * relative) + 1e-9) / 100)
