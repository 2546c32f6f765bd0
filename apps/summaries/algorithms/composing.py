"""Summaries of a requested length from ranked sentences, in the order of the text."""

from collections.abc import Sequence

MIN_SENTENCES, MAX_SENTENCES = 3, 5  # of a summary without a chosen length
ENOUGH_WORDS = 60.0  # from which such a summary is long enough

_ROUNDING = 1e-9


def by_count(order: Sequence[int], lengths: Sequence[float]) -> list[int]:
    """The sentences of a short summary: three, or up to five while they have fewer than 60 words.

    Parameters
    ----------
    order : sequence of int
        All sentences by weight, the heaviest first.
    lengths : sequence of float
        Of the sentences, in words.

    Returns
    -------
    list of int
        Ascending: the order of the text.

    Examples
    --------
    >>> by_count([4, 0, 2, 1, 3], [20] * 5), by_count([4, 0, 2, 1, 3], [16] * 5), by_count([0, 1], [9, 9])
    ([0, 2, 4], [0, 1, 2, 4], [0, 1])
    """
    count, words = 0, 0.0
    for number in order[:MAX_SENTENCES]:
        if count >= MIN_SENTENCES and words >= ENOUGH_WORDS:
            break
        count, words = count + 1, words + lengths[number]
    return sorted(order[:count])


def by_ratio(order: Sequence[int], lengths: Sequence[float], ratio: float) -> list[int]:
    """The sentences of a summary that is `ratio` of the text: ``sum |s_i| = L R``, reached by the last one taken.

    Parameters
    ----------
    order : sequence of int
        All sentences by weight, the heaviest first.
    lengths : sequence of float
        Of the sentences, in any unit, all above 0.
    ratio : float
        R, above 0 and at most 1.

    Returns
    -------
    list of int
        Ascending: the order of the text. At least one sentence if there is any.

    Raises
    ------
    ValueError
        If the ratio is not above 0 and at most 1.

    Examples
    --------
    >>> by_ratio([2, 0, 1], [10, 10, 10], 0.5)
    [0, 2]
    """
    if not 0 < ratio <= 1:
        raise ValueError(f"a ratio must be above 0 and at most 1, not {ratio}")
    wanted = ratio * sum(lengths)
    taken: list[int] = []
    length = 0.0
    for number in order:
        if taken and length >= wanted * (1 - _ROUNDING):
            break
        taken.append(number)
        length += lengths[number]
    return sorted(taken)
