"""The vectors of active reports: which report is most similar to another, and whether a story consists of two."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.features import Terms, Weights

FIRST = 1_024  # rows
FOLDED = 1 << 16  # values of a folded term

Places = NDArray[np.int64]

COMPARED = 24  # latest reports of a story that are compared with one another, or with a new one
RELATED = 0.25  # similarity from which two reports of a story are related: of such pairs nine in ten are of one event
RELATED_TERMS = 32  # heaviest terms of a report by which this is decided


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


class Rows:
    """Terms and their weights, one row of fixed width for each story, the heaviest terms first.

    Most rows have hardly a term of the vector that they are compared with. These terms are found by their lowest 16
    bits, in a table that stays in the processor's cache, unlike weights by term.

    Parameters
    ----------
    width, heads : int
        Terms of a row, and how many of them are its heads.
    nothing : int
        Padding instead of a term.

    Examples
    --------
    >>> rows, weights = Rows(2, 1, 9), np.zeros(10, np.float32)
    >>> rows.put(5, Vector(np.array([3], np.int32), np.array([0.5], np.float32)))
    >>> weights[3] = 2
    >>> rows.products(weights, np.array([3]), np.array([5, 6])).tolist()
    [1.0, 0.0]
    """

    def __init__(self, width: int, heads: int, nothing: int) -> None:
        self.terms = np.full((FIRST, width), nothing, np.int32)
        self.weights = np.zeros((FIRST, width), np.float32)  # 0 where there is no term
        self._folded = np.zeros((FIRST, width), np.uint16)
        self._heads = np.zeros((FIRST, heads), np.uint16)  # the first ones of `_folded`
        self._nothing = nothing
        self._marks = np.zeros(FOLDED, np.bool_)  # scratch

    def put(self, row: int, vector: Vector) -> None:
        size = vector.terms.size
        self.terms[row, :size], self.terms[row, size:] = vector.terms, self._nothing
        self.weights[row, :size], self.weights[row, size:] = vector.weights, 0
        self._folded[row] = self.terms[row].astype(np.uint16)
        self._heads[row] = self._folded[row, : self._heads.shape[1]]

    def double(self) -> None:
        """Double the number of rows."""
        self.terms = np.concatenate([self.terms, np.full_like(self.terms, self._nothing)])
        self.weights = np.concatenate([self.weights, np.zeros_like(self.weights)])
        self._folded = np.concatenate([self._folded, np.zeros_like(self._folded)])
        self._heads = np.concatenate([self._heads, np.zeros_like(self._heads)])

    def products(self, weights: Weights, terms: Terms, rows: Places) -> NDArray[np.float64]:
        """Scalar products of some rows with a vector: its weight for every term, and its terms."""
        places, columns = self._found(terms, rows, self._folded)
        found = rows[places], columns
        products = weights.take(self.terms[found]) * self.weights[found]
        return np.bincount(places, products, minlength=rows.size).astype(np.float64)

    def dense_products(self, weights: NDArray[np.float64], rows: Places) -> NDArray[np.float64]:
        """Scalar products of some rows with a vector of many terms, given by its weight for every term."""
        products: NDArray[np.float64] = np.einsum("ij,ij->i", weights.take(self.terms[rows]), self.weights[rows])
        return products

    def sharing(self, terms: Terms, rows: Places, least: int) -> Places:
        """Those of the rows of which at least so many heads are among some terms."""
        places, columns = self._found(terms, rows, self._heads)
        equal = np.flatnonzero(self.terms[rows[places], columns, None] == terms) // max(terms.size, 1)
        return rows[np.bincount(places[equal], minlength=rows.size) >= least]

    def _found(self, terms: Terms, rows: Places, of_rows: NDArray[np.uint16]) -> tuple[Places, Places]:
        """Where one of the terms may be among those of some rows: numbers of rows, and columns."""
        folded = terms.astype(np.uint16)
        self._marks[folded] = True
        (found,) = self._marks.take(of_rows.take(rows, axis=0)).ravel().nonzero()
        self._marks[folded] = False
        places, columns = np.divmod(found, of_rows.shape[1])
        return places, columns


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    key: int
    vector: Vector
    hours: float  # since 1970


class Reports:
    """Reports without copies, by story, in the order of time.

    Examples
    --------
    >>> reports = Reports()
    >>> reports.add(1, Report(7, Vector(np.array([3], np.int32), np.array([1.0], np.float32)), 12.0))
    >>> [report.key for report in reports.latest(1)]
    [7]
    """

    def __init__(self) -> None:
        self._of: dict[int, dict[int, Report]] = {}
        self._stories: dict[int, int] = {}  # of each report

    def add(self, story: int, report: Report) -> None:
        self._of.setdefault(story, {})[report.key] = report
        self._stories[report.key] = story

    def remove(self, story: int, key: int) -> None:
        """Remove a report, if it is known."""
        if self._of.get(story, {}).pop(key, None):
            del self._stories[key]

    def merge(self, younger: int, older: int) -> None:
        for report in self._of.pop(younger, {}).values():
            self.add(older, report)

    def drop(self, story: int) -> None:
        for key in self._of.pop(story, {}):
            del self._stories[key]

    def rename(self, key: int, copy: int, hours: float) -> None:
        """Replace a deleted report by one of its copies."""
        story = self._stories.get(key)
        if story is not None:
            self.add(story, Report(copy, self._of[story][key].vector, hours))
            self.remove(story, key)

    def story(self, key: int) -> int | None:
        return self._stories.get(key)

    def latest(self, story: int, most: int = COMPARED) -> list[Report]:
        """The latest reports of a story, the oldest first."""
        return sorted(self._of.get(story, {}).values(), key=lambda report: (report.hours, report.key))[-most:]


def similarities(reports: Collection[Report]) -> NDArray[np.float32]:
    """The cosine of each pair of reports; vectors have unit length or less.

    Returns
    -------
    (n_reports, n_reports) ndarray
    """
    terms = np.concatenate([report.vector.terms for report in reports])
    weights = np.concatenate([report.vector.weights for report in reports])
    rows = np.repeat(np.arange(len(reports)), [report.vector.terms.size for report in reports])
    columns = np.unique(terms, return_inverse=True)[1]
    dense = np.zeros((len(reports), int(columns.max(initial=-1)) + 1), np.float32)
    dense[rows, columns] = weights
    return dense @ dense.T


def related(one: Vector, others: Sequence[Vector]) -> list[bool]:
    """Whether each of some reports of a story is similar enough to another one to be shown beside it.

    >>> near, far = (Vector(np.array(terms, np.int32), np.full(2, 0.7, np.float32)) for terms in ([3, 4], [5, 6]))
    >>> related(near, [far, near])
    [False, True]
    """
    heads = [Vector(each.terms[:RELATED_TERMS], each.weights[:RELATED_TERMS]) for each in (one, *others)]
    return [likeness >= RELATED for likeness in similarities([Report(0, head, 0.0) for head in heads])[0, 1:].tolist()]


def halves(likeness: NDArray[np.float64]) -> tuple[NDArray[np.bool_], float]:
    """The two parts into which average linkage divides some reports last, and the mean likeness between them.

    Parameters
    ----------
    likeness : (n_reports, n_reports) ndarray
        Symmetric; at least two reports.

    Returns
    -------
    (n_reports,) ndarray of bool
        Whether each report is in the second part; the first report never is.
    float
        The mean likeness of pairs of one report of each part.

    References
    ----------
    R. Sokal, C. Michener, "A statistical method for evaluating systematic relationships", 1958.

    Examples
    --------
    >>> parts, between = halves(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.3], [0.1, 0.3, 1.0]]))
    >>> parts.tolist(), round(between, 2)
    ([False, False, True], 0.2)
    """
    count = len(likeness)
    means = likeness.astype(np.float64).copy()
    np.fill_diagonal(means, -np.inf)
    sizes, parts = np.ones(count), np.arange(count)
    for _ in range(count - 2):
        one, other = divmod(int(means.argmax()), count)
        joined = (means[one] * sizes[one] + means[other] * sizes[other]) / (sizes[one] + sizes[other])
        means[one], means[:, one] = joined, joined
        means[one, one] = -np.inf
        means[other], means[:, other] = -np.inf, -np.inf
        sizes[one] += sizes[other]
        parts[parts == other] = one
    return parts != parts[0], float(means.max())
