"""How long something takes, as people say it."""

from math import inf

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def span(seconds: float) -> str:
    """The two largest units of a span, the smaller one left out where it says little.

    >>> span(9.64), span(95 * 60), span(3 * 86_400 + 5 * 3_600), span(20 * 3_600 + 59), span(90)
    ('9.6 s', '1 h 35 min', '3 d 5 h', '20 h', '1 min 30 s')
    """
    if seconds == inf:
        return "for ever"
    if 0 < seconds < 9.95:
        return f"{max(seconds, 0.1):.1f}".removesuffix(".0") + " s"
    for place, (unit, length) in enumerate(_UNITS):
        # What would be rounded up to 60 minutes is an hour.
        if seconds >= length * (1 - 1 / 120) and place < 3:
            smaller, part = _UNITS[place + 1]
            parts = round(seconds / part)
            whole, rest = divmod(parts, length // part)
            return f"{whole} {unit} {rest} {smaller}" if rest and whole < 10 else _whole(seconds, unit)
    return f"{round(seconds)} s"


def _whole(seconds: float, unit: str) -> str:
    return f"{max(round(seconds / dict(_UNITS)[unit]), 1)} {unit}"
