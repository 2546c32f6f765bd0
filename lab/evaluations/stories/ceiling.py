"""How well average linkage of all reports at once groups a stream, if its threshold is the best one for the labels."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from apps.stories.algorithms.agreement import faded
from apps.stories.algorithms.clusters import CHANCE, CHANCE_FLOOR, CHANCE_WEIGHT
from apps.stories.algorithms.reports import Report, Vector, similarities
from lab.evaluations.stories.measures import Agreement, bcubed
from lab.evaluations.stories.stream import Arrival

MOST = 1_000  # reports: each of as many steps compares all pairs


def ceiling(stream: Sequence[Arrival], vectors: Mapping[int, Vector]) -> Agreement:
    """The best of all levels of average linkage, by BCubed F1; over reports with a vector, by place in the stream.

    Similarities and what chance makes of them are those of the method that groups a stream report by report. This one
    knows all reports from the beginning, and the labels, which no portal does.
    """
    reports = [Report(key, vectors[key], stream[key].hours) for key in sorted(vectors)]
    likeness = similarities(reports).astype(np.float64)
    chance = (likeness.sum(axis=1) + CHANCE * CHANCE_WEIGHT) / (len(reports) + CHANCE_WEIGHT) + CHANCE_FLOOR
    hours = np.array([report.hours for report in reports])
    likeness *= faded(np.abs(hours[:, None] - hours)) / np.sqrt(np.outer(chance, chance))
    stories = [stream[report.key].story for report in reports]
    return max((bcubed(parts, stories) for parts in levels(likeness)), key=lambda agreement: agreement.f1)


def levels(likeness: NDArray[np.float64]) -> Iterator[list[int]]:
    """The part of each report after 0, 1, 2, ... joins of the two parts with the largest mean likeness.

    >>> [*levels(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.3], [0.1, 0.3, 1.0]]))]
    [[0, 1, 2], [0, 0, 2], [0, 0, 0]]
    """
    count = len(likeness)
    means, sizes, parts = likeness.copy(), np.ones(count), np.arange(count)
    np.fill_diagonal(means, -np.inf)
    yield parts.tolist()
    for _ in range(count - 1):
        one, other = sorted(divmod(int(means.argmax()), count))
        joined = (means[one] * sizes[one] + means[other] * sizes[other]) / (sizes[one] + sizes[other])
        means[one], means[:, one] = joined, joined
        means[one, one] = -np.inf
        means[other], means[:, other] = -np.inf, -np.inf
        sizes[one] += sizes[other]
        parts[parts == other] = one
        yield parts.tolist()
