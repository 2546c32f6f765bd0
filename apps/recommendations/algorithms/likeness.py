"""Sources that the same people follow."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.recommendations.algorithms.likelihood import root_likelihood

IntArray = NDArray[np.int64]

MIN_SHARED = 3  # people: fewer would reveal individuals, and say little of the sources
MAX_NEIGHBOURS = 20  # per source
MIN_ROOT = 1.0  # root of the likelihood ratio


class Neighbours(NamedTuple):
    """Pairs of sources, by source, most similar first."""

    sources: IntArray
    others: IntArray
    values: NDArray[np.float64]
    shared: IntArray  # people


def neighbours(people: IntArray, sources: IntArray) -> Neighbours:
    """The most similar other sources of each source, by common followers.

    Two sources are like each other as their followers are the same people more often than by chance, by the root of the
    log-likelihood ratio. Large sources, which everybody follows, are so no neighbours of all others.

    Parameters
    ----------
    people, sources : (n_follows,) int arrays
        Who follows what; any numbers, each pair once.

    Returns
    -------
    Neighbours
        At most 20 of each source, which at least three people share.

    Notes
    -----
    O(sum over people of the square of what each follows); the memory is that of one source's followers.

    References
    ----------
    B. Sarwar et al., "Item-based collaborative filtering recommendation algorithms", WWW 2001; the measure is
    Dunning's.

    Examples
    --------
    Three people follow 7 and 8, one of them 9 as well, and three others follow 9:

    >>> found = neighbours(np.array([1, 1, 2, 2, 3, 3, 3, 4, 5, 6]), np.array([7, 8, 7, 8, 7, 8, 9, 9, 9, 9]))
    >>> found.sources.tolist(), found.others.tolist(), found.shared.tolist()
    ([7, 8], [8, 7], [3, 3])
    """
    numbers, columns, followers = np.unique(sources, return_inverse=True, return_counts=True)
    names, rows = np.unique(people, return_inverse=True)
    by_person, by_source = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
    followed = np.split(columns[by_person], np.searchsorted(rows[by_person], np.arange(1, names.size)))
    following = np.split(rows[by_source], np.cumsum(followers)[:-1])
    nothing = np.zeros(0, np.int64)
    found = [(nothing, nothing, np.zeros(0), nothing)]
    for source in np.flatnonzero(followers >= MIN_SHARED).tolist():
        shared = np.bincount(np.concatenate([followed[person] for person in following[source].tolist()]))
        others, values = _most_similar(source, shared, followers, names.size)
        found.append((np.full(others.size, numbers[source]), numbers[others], values, shared[others]))
    return Neighbours(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _most_similar(
    source: int, shared: IntArray, followers: IntArray, people: int
) -> tuple[IntArray, NDArray[np.float64]]:
    """The neighbours of one source, by how many of its followers each source shares."""
    others = np.flatnonzero(shared >= MIN_SHARED)
    others = others[others != source]
    both = shared[others]
    first, second = followers[source] - both, followers[others] - both
    values = root_likelihood(both, first, second, people - both - first - second)
    order = np.argsort(-values, kind="stable")[:MAX_NEIGHBOURS]
    order = order[values[order] >= MIN_ROOT]
    return others[order], values[order]
