"""When to retry what failed: the one rule for all that is retried."""

from collections.abc import Sequence
from datetime import timedelta

# Messages to people, their programs and hubs, which are given up in the end.
DELIVERY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 6 * 60, 12 * 60))
MAX_GROWTHS = 30  # more would only overflow


def backoff(failures: int, first: float, longest: float, *, factor: float = 2.0) -> float:
    """Seconds to wait after so many failures in a row, at least one: exponential, up to `longest`.

    >>> [backoff(failures, 10.0, 60.0) for failures in (1, 2, 3, 4, 5_000)]
    [10.0, 20.0, 40.0, 60.0, 60.0]
    """
    return min(first * factor ** min(failures - 1, MAX_GROWTHS), longest)


def next_delay(failures: int, delays: Sequence[timedelta] = DELIVERY_DELAYS) -> timedelta | None:
    """What to wait after so many failures in a row, at least one, by a table; None: give up.

    >>> next_delay(1), next_delay(7)
    (datetime.timedelta(seconds=60), None)
    """
    return delays[failures - 1] if failures <= len(delays) else None
