"""Sources that the same people follow."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.recommendations.algorithms.likelihood import root_likelihood

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

IntArray = NDArray[np.int64]

MIN_SHARED = 3  # people: fewer would reveal individuals, and say little of the sources
MAX_NEIGHBOURS = 20  # of a source
MIN_ROOT = 1.0  # root of the likelihood ratio
BLOCK = 256  # sources in one sparse product: bounds the memory


class Neighbours(NamedTuple):
    """Pairs of sources, by source and from the likest on."""

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
    O(sum over people of the square of what each follows), in blocks of 256 sources.

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
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - heavy; nothing at the portal's start needs it

    numbers, columns = np.unique(sources, return_inverse=True)
    _, rows = np.unique(people, return_inverse=True)
    if not numbers.size:
        nothing = np.zeros(0, np.int64)
        return Neighbours(nothing, nothing, np.zeros(0), nothing)
    count = int(rows.max()) + 1
    follows = csr_matrix((np.ones(rows.size, np.int32), (rows, columns)), (count, numbers.size))
    followers = np.asarray(follows.sum(axis=0)).ravel().astype(np.int64)
    by_source = follows.T.tocsr()
    found = [
        _block(by_source, follows, followers, count, start, min(start + BLOCK, numbers.size))
        for start in range(0, numbers.size, BLOCK)
    ]
    at, other, values, shared = (np.concatenate(column) for column in zip(*found, strict=True))
    return Neighbours(numbers[at], numbers[other], values, shared)


def _block(
    by_source: "csr_matrix", follows: "csr_matrix", followers: IntArray, people: int, start: int, end: int
) -> tuple[IntArray, IntArray, NDArray[np.float64], IntArray]:
    pairs = (by_source[start:end] @ follows).tocoo()
    at, other, shared = pairs.row.astype(np.int64) + start, pairs.col.astype(np.int64), pairs.data.astype(np.int64)
    kept = (at != other) & (shared >= MIN_SHARED)
    at, other, shared = at[kept], other[kept], shared[kept]
    first, second = followers[at] - shared, followers[other] - shared
    values = root_likelihood(shared, first, second, people - shared - first - second)
    order = np.lexsort((other, -values, at))
    order = order[values[order] >= MIN_ROOT]
    at, other, values, shared = at[order], other[order], values[order], shared[order]
    # The place of each among those of its source; they stand together.
    place = np.arange(at.size) - np.searchsorted(at, at)
    few = place < MAX_NEIGHBOURS
    return at[few], other[few], values[few], shared[few]
