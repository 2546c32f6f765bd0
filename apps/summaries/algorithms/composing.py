"""Summaries of a requested length from ranked sentences, in the order of the text."""

from collections.abc import Sequence

_ROUNDING = 1e-9


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
