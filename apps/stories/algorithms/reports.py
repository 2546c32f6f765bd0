"""The reports of active stories: which is most similar to another, and whether a story consists of two."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.vectors import Vector

COMPARED = 24  # latest reports of a story that are compared with one another, or with a new one


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
        """Remove a report, if it is there."""
        if self._of.get(story, {}).pop(key, None):
            del self._stories[key]

    def merge(self, younger: int, older: int) -> None:
        for report in self._of.pop(younger, {}).values():
            self.add(older, report)

    def drop(self, story: int) -> None:
        for key in self._of.pop(story, {}):
            del self._stories[key]

    def rename(self, key: int, copy: int, hours: float) -> None:
        """Let a copy stand for a report that is deleted."""
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
