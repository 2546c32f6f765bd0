"""Decide which segments to build and merge: few segments, with each posting written few times.

The size of a segment, a measure of its cost, is its documents, or its tokens / TOKENS_PER_DOCUMENT if that is more.
"""

from collections.abc import Sequence

SMALLEST, MIDDLE, LARGEST = 2_048, 16_384, 65_536
TOKENS_PER_DOCUMENT = 256


def size_of(documents: int, tokens: int) -> int:
    """
    >>> size_of(100, 1_000), size_of(100, 100_000)
    (100, 390)
    """
    return max(documents, tokens // TOKENS_PER_DOCUMENT)


def to_build(sizes: Sequence[int], *, at_least: int = SMALLEST) -> int:
    """The number of waiting documents, from the oldest on, to build a segment of; 0 if they are too few.

    Where many wait, as after a first start, the segment is a large one at once.

    Parameters
    ----------
    sizes : sequence of int
        Of each document.
    at_least : int
        Minimum of their total size.

    Examples
    --------
    >>> [to_build([1] * waiting) for waiting in (2_047, 2_048, 20_000, 200_000)]
    [0, 2048, 16384, 65536]
    >>> to_build([1] * 7, at_least=1), to_build([40_000, 40_000])
    (7, 1)
    """
    whole = sum(sizes)
    if not sizes or whole < at_least:
        return 0
    room = max((level for level in (SMALLEST, MIDDLE, LARGEST) if level <= whole), default=whole)
    taken = count = 0
    for size in sizes[:room]:
        if count and taken + size > room:
            break
        taken += size
        count += 1
    return count


def to_merge(sizes: Sequence[int]) -> slice | None:
    """The adjacent segments to merge, None if there are none.

    A run of segments below a level is merged once it fills the level, or if a larger one after it stops its growth. So
    each document is written about three times, and there are at most twice as many segments as the archive fills of
    the largest level, and some twenty more.

    Parameters
    ----------
    sizes : sequence of int
        Of the segments, the oldest first.

    Examples
    --------
    >>> to_merge([65_536] + [2_048] * 7), to_merge([65_536] + [2_048] * 8)
    (None, slice(1, 9, None))
    >>> to_merge([2_048, 2_048, 16_384]), to_merge([16_384] * 4)
    (slice(0, 2, None), slice(0, 4, None))
    """
    for level in (MIDDLE, LARGEST):
        start = whole = 0
        for number, size in enumerate(sizes):
            if size >= level or whole + size > level:  # the run before it is complete
                if number - start >= 2:
                    return slice(start, number)
                start, whole = number, 0
            whole += size
            if whole == level and number > start:
                return slice(start, number + 1)
    return None
