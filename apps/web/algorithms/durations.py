"""How long something takes, as people say it."""

from collections.abc import Sequence
from math import inf

UNITS = ("d", "h", "min", "s")
_LENGTHS = (86_400, 3_600, 60, 1)  # s


def span(seconds: float, units: Sequence[str] = UNITS, endless: str = "for ever") -> str:
    """The two largest units of a span, the smaller one left out where it says little.

    Parameters
    ----------
    seconds : float
        At least 0; infinity is `endless`.
    units : sequence of str
        What a day, an hour, a minute and a second are called.

    >>> span(5_400, ("Tage", "Std.", "Min.", "Sek."))
    '1 Std. 30 Min.'
    >>> span(9.64), span(95 * 60), span(3 * 86_400 + 5 * 3_600), span(20 * 3_600 + 59), span(90)
    ('9.6 s', '1 h 35 min', '3 d 5 h', '20 h', '1 min 30 s')
    """
    if seconds == inf:
        return endless
    if 0 < seconds < 9.95:
        return f"{max(seconds, 0.1):.1f}".removesuffix(".0") + f" {units[3]}"
    for place, length in enumerate(_LENGTHS):
        # Show an hour instead of 60 minutes, to which less would be rounded up.
        if seconds >= length * (1 - 1 / 120) and place < 3:
            part = _LENGTHS[place + 1]
            parts = round(seconds / part)
            whole, rest = divmod(parts, length // part)
            if rest and whole < 10:
                return f"{whole} {units[place]} {rest} {units[place + 1]}"
            return f"{max(round(seconds / length), 1)} {units[place]}"
    return f"{round(seconds)} {units[3]}"
