"""Which documents to seal and which generations to merge, so that there are few and each posting is written few times.

A generation's size is its documents, or its tokens at TOKENS_PER_DOCUMENT if that is more: it says what it costs.
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
    """How many of the documents that are not sealed should be, from the oldest on; 0 if they are too few.

    Where many wait, as after a first start, the generation is a large one at once.

    Parameters
    ----------
    sizes : sequence of int
        Of each document.
    at_least : int
        Waiting documents of a smaller size together are left alone.

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
    """The neighbours to make one generation of, None if all is well.

    A run of generations below a level is merged once it fills the level, or if a larger one behind it keeps it from
    growing. So each document is written about three times on its way up, and there are at most as many generations as
    the archive fills of the largest, twice over, and some twenty more.

    Parameters
    ----------
    sizes : sequence of int
        Of the generations, the oldest first.

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
