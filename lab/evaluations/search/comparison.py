"""Whether one model is better than another: by how much, and by more than chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr


@dataclass(frozen=True)
class Comparison:
    """One model against another over the same queries."""

    gain: float  # mean of one over mean of the other, less 1; 0 where the other has nothing
    won: int  # queries
    lost: int
    p: float  # p-value: the probability of a mean difference as large by chance, two-sided


def compare(ours: ArrayLike, theirs: ArrayLike) -> Comparison:
    """Compare the scores of two models by Student's t-test of paired differences, two-sided.

    Parameters
    ----------
    ours, theirs : (n,) array_like of float
        Of the same n queries in the same order, at least one.

    Returns
    -------
    Comparison
        With a `p` of 1 where no query differs, and 0 where all differ by the same.

    References
    ----------
    Student, "The Probable Error of a Mean", Biometrika 6(1), 1908.

    Examples
    --------
    >>> better = compare([0.5, 0.7, 0.9, 0.3], [0.4, 0.7, 0.6, 0.3])
    >>> round(better.gain, 3), better.won, better.lost, round(better.p, 3)
    (0.2, 2, 0, 0.252)
    """
    mine, other = np.asarray(ours, float), np.asarray(theirs, float)
    if mine.shape != other.shape or not mine.size:
        raise ValueError(f"scores of the same queries are compared, not {mine.size} and {other.size}")
    differences = mine - other
    return Comparison(
        gain(float(mine.mean()), float(other.mean())),
        int((differences > 0).sum()),
        int((differences < 0).sum()),
        _chance(differences),
    )


HARM = 0.005  # of average precision, beyond which a query counts as hurt, or as helped


@dataclass(frozen=True)
class Robustness:
    """What feedback does to single queries."""

    hurt: float  # share of them
    ri: float  # robustness index: those helped less those hurt, as a share of all


def robustness(with_feedback: ArrayLike, without: ArrayLike) -> Robustness:
    """How many queries feedback helps and hurts, by their average precision.

    References
    ----------
    T. Sakai, T. Manabe, M. Koyama, "Flexible Pseudo-Relevance Feedback via Selective Sampling", TALIP 4(2), 2005.

    Examples
    --------
    >>> robustness([0.5, 0.7, 0.2, 0.3], [0.4, 0.7, 0.1, 0.4])
    Robustness(hurt=0.25, ri=0.25)
    """
    differences = np.asarray(with_feedback, float) - np.asarray(without, float)
    hurt, helped = float((differences < -HARM).mean()), float((differences > HARM).mean())
    return Robustness(hurt, helped - hurt)


def gain(ours: float, theirs: float) -> float:
    """How much larger ours is, as a share of theirs; 0 where theirs is nothing."""
    return ours / theirs - 1 if theirs else 0.0


def _chance(differences: NDArray[np.float64]) -> float:
    count = differences.size
    mean = float(differences.mean())
    if not differences.any():
        return 1.0
    error = float(differences.std(ddof=1)) / count**0.5 if count > 1 else float("inf")
    return float(2 * stdtr(max(count - 1, 1), -abs(mean) / error)) if error else 0.0
