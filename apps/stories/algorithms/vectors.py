"""Sparse vectors of the heaviest terms."""

from dataclasses import dataclass

import numpy as np

from apps.stories.algorithms.features import Terms, Weights


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """Weights of distinct terms, the heaviest first; of equal ones the smallest term."""

    terms: Terms
    weights: Weights

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.weights))


NOTHING = Vector(np.zeros(0, np.int32), np.zeros(0, np.float32))


def heaviest(terms: Terms, weights: Weights, most: int) -> Vector:
    """The terms with the largest weights.

    >>> heaviest(np.array([7, 8, 9]), np.array([0.1, 0.3, 0.3]), 2).terms.tolist()
    [8, 9]
    """
    order = np.lexsort((terms, -weights))[:most]
    return Vector(terms[order], weights[order])


def added(one: Vector, other: Vector, most: int) -> Vector:
    """The heaviest terms of the sum of two vectors."""
    terms, places = np.unique(np.concatenate([one.terms, other.terms]), return_inverse=True)
    sums = np.zeros(terms.size, np.float32)
    np.add.at(sums, places, np.concatenate([one.weights, other.weights]))
    return heaviest(terms, sums, most)


def subtracted(one: Vector, other: Vector) -> Vector:
    """A sum minus one of its vectors, as far as the sum has its terms."""
    if not other.terms.size:
        return one
    order = np.argsort(other.terms)
    found = order[np.searchsorted(other.terms, one.terms, sorter=order).clip(max=other.terms.size - 1)]
    rest = one.weights - np.where(other.terms[found] == one.terms, other.weights[found], np.float32(0))
    kept = rest > 1e-6
    return heaviest(one.terms[kept], rest[kept], len(rest))
