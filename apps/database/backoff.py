"""When to retry what failed: one rule for all retries."""

from collections.abc import Sequence
from datetime import timedelta

# Messages to people, webhooks and hubs, which fail for good in the end.
DELIVERY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 6 * 60, 12 * 60))
MAX_GROWTHS = 30  # beyond it the power overflows


def backoff(failures: int, first: float, longest: float, *, factor: float = 2.0) -> float:
    """Seconds to wait after a number of failures in a row, at least one: exponential, up to `longest`.

    >>> [backoff(failures, 10.0, 60.0) for failures in (1, 2, 3, 4, 5_000)]
    [10.0, 20.0, 40.0, 60.0, 60.0]
    """
    return min(first * factor ** min(failures - 1, MAX_GROWTHS), longest)


def next_delay(failures: int, delays: Sequence[timedelta] = DELIVERY_DELAYS) -> timedelta | None:
    """The delay after a number of failures in a row, at least one, from a table; None where retries end.

    >>> next_delay(1), next_delay(7)
    (datetime.timedelta(seconds=60), None)
    """
    return delays[failures - 1] if failures <= len(delays) else None
