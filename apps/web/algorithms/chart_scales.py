"""From values to places in a picture, and the values that are worth a line of its grid."""

from dataclasses import dataclass
from math import ceil, floor, isfinite, log, log10

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_NOTHING = 1e-300  # smaller values cannot be rounded to a power of ten
DURATIONS = (  # s
    *(0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30),
    *(number * _MINUTE for number in (1, 2, 5, 10, 20, 30)),
    *(number * _HOUR for number in (1, 2, 3, 6, 12)),
    *(number * _DAY for number in (1, 2, 4, 7, 14, 28)),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps [low, high] to [begin, end] of a picture; what lies outside is put at the nearer end.

    Raises
    ------
    ValueError
        If a logarithmic scale does not begin above 0, or a bound is not finite.
    """

    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"a scale needs finite bounds, not {self.low} and {self.high}")
        if self.logarithmic and not self.low > 0:
            raise ValueError(f"a logarithmic scale begins above 0, not at {self.low}")

    def __call__(self, value: float) -> float:
        """
        >>> Scale(0, 10, 0, 100)(5), Scale(1, 100, 0, 100, logarithmic=True)(10), Scale(0, 10, 100, 0)(12)
        (50.0, 50.0, 0.0)
        """
        low, high = self.low, self.high
        value = min(max(value, low), high)
        if self.logarithmic:
            low, high, value = log(low), log(high), log(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)


def even_ticks(high: float, most: int = 5) -> list[float]:
    """Round values from 0 to the first one that is not below `high`.

    >>> even_ticks(23), even_ticks(0.7)
    ([0.0, 5.0, 10.0, 15.0, 20.0, 25.0], [0.0, 0.2, 0.4, 0.6, 0.8])
    """
    if not high > _NOTHING:
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(high / most))
    step = next(power * times for times in (1, 2, 5, 10) if power * times * most >= high * (1 - 1e-9))
    return [round(step * number, 12) for number in range(ceil(high / step - 1e-9) + 1)]


def counting_ticks(high: float, most: int = 5) -> list[float]:
    """The same for counts, which have no fractions.

    >>> counting_ticks(2, most=4), counting_ticks(1.3, most=4), counting_ticks(0)
    ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0])
    """
    return [tick for tick in even_ticks(max(ceil(high), 1), most) if tick.is_integer()]


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Ones, twos and fives of all powers of ten within [low, high], or only some of them if they are many.

    >>> round_ticks(3, 70), round_ticks(1, 1e6)
    ([5.0, 10.0, 20.0, 50.0], [1.0, 100.0, 10000.0, 1000000.0])
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for leads in ((1, 2, 5), (1, 3), (1,)):
        ticks = _within([lead * 10.0**power for power in powers for lead in leads], low, high)
        if len(ticks) <= most:
            return ticks
    return ticks[:: ceil(len(ticks) / most)]


def duration_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Spans in seconds that people know, within [low, high], or only some of them if they are many.

    >>> duration_ticks(1_800, 11_000), duration_ticks(1, 86_400)
    ([1800, 3600, 7200, 10800], [1, 20, 300, 3600, 43200])
    """
    ticks = _within(list(DURATIONS), low, high)
    return ticks[:: max(ceil(len(ticks) / most), 1)] or [low]


def _within(values: list[float], low: float, high: float) -> list[float]:
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
