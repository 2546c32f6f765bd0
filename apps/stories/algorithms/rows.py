"""Vectors of many stories in contiguous memory, to compare one with hundreds at once."""

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import Terms, Weights
from apps.stories.algorithms.vectors import Vector

FIRST = 1_024  # rows
FOLDED = 1 << 16  # values of a folded term

Places = NDArray[np.int64]


class Rows:
    """Terms and their weights, one row of fixed width for each story, the heaviest terms first.

    Most rows have hardly a term of the vector that they are compared with. These terms are found by their lowest 16
    bits, in a table that stays in the processor's cache, unlike weights by term.

    Parameters
    ----------
    width : int
        Terms of a row.
    nothing : int
        Padding instead of a term.

    Examples
    --------
    >>> rows, weights = Rows(2, 9), np.zeros(10, np.float32)
    >>> rows.put(5, Vector(np.array([3], np.int32), np.array([0.5], np.float32)))
    >>> weights[3] = 2
    >>> rows.products(weights, np.array([3]), np.array([5, 6])).tolist()
    [1.0, 0.0]
    """

    def __init__(self, width: int, nothing: int) -> None:
        self._width = width
        self.terms = np.full((FIRST, width), nothing, np.int32)
        self.weights = np.zeros((FIRST, width), np.float32)  # 0 where there is no term
        self._folded = np.zeros((FIRST, width), np.uint16)
        self._nothing = nothing
        self._marks = np.zeros(FOLDED, np.bool_)  # scratch

    def put(self, row: int, vector: Vector) -> None:
        size = vector.terms.size
        self.terms[row, :size], self.terms[row, size:] = vector.terms, self._nothing
        self.weights[row, :size], self.weights[row, size:] = vector.weights, 0
        self._folded[row] = self.terms[row].astype(np.uint16)

    def double(self) -> None:
        """Double the number of rows."""
        self.terms = np.concatenate([self.terms, np.full_like(self.terms, self._nothing)])
        self.weights = np.concatenate([self.weights, np.zeros_like(self.weights)])
        self._folded = np.concatenate([self._folded, np.zeros_like(self._folded)])

    def products(self, weights: Weights, terms: Terms, rows: Places) -> NDArray[np.float64]:
        """Scalar products of some rows with a vector: its weight for every term, and its terms."""
        places, columns = self._found(terms, rows, self._width)
        found = rows[places], columns
        products = weights.take(self.terms[found]) * self.weights[found]
        return np.bincount(places, products, minlength=rows.size).astype(np.float64)

    def dense_products(self, weights: NDArray[np.float64], rows: Places) -> NDArray[np.float64]:
        """Scalar products of some rows with a vector of many terms, given by its weight for every term."""
        products: NDArray[np.float64] = np.einsum("ij,ij->i", weights.take(self.terms[rows]), self.weights[rows])
        return products

    def sharing(self, terms: Terms, rows: Places, width: int, least: int) -> Places:
        """Those of the rows of which at least so many of the heaviest terms, `width` of them, are among some terms."""
        places, columns = self._found(terms, rows, width)
        equal = np.flatnonzero(self.terms[rows[places], columns, None] == terms) // max(terms.size, 1)
        return rows[np.bincount(places[equal], minlength=rows.size) >= least]

    def _found(self, terms: Terms, rows: Places, width: int) -> tuple[Places, Places]:
        """Where one of the terms may be among the heaviest of some rows: numbers of rows, and columns."""
        folded = terms.astype(np.uint16)
        self._marks[folded] = True
        (found,) = self._marks.take(self._folded.take(rows, axis=0)[:, :width]).ravel().nonzero()
        self._marks[folded] = False
        places, columns = np.divmod(found, width)
        return places, columns
