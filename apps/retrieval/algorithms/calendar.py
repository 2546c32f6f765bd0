"""The time axis of plans: hours since a Sunday's midnight, so that the phase of the week is `hours % WEEK`.

A replayed source runs faster than real time; its clock rate is the number of its hours per real hour. Profiles are
learned and plans are made on the source's own axis, which for a clock rate of 1 is UTC.
"""

from typing import Any

DAY = 24.0  # h
WEEK = 168.0  # h
# Publishing systems stamp round minutes. Slots of five minutes that begin a minute past them have what is published
# on the stroke at their end, and a retrieval at the end of a slot gets it a minute old instead of five.
SLOTS_BEGIN = 1 / 60  # h past the hour
_FIRST_SUNDAY = 72.0  # h after 1970 began, which was a Thursday


def hours_of(epoch: Any, clock_rate: float = 1.0) -> Any:
    """Seconds since 1970 (a number or an array) as hours on the axis of a source of this clock rate.

    >>> hours_of(259200.0), hours_of(259200.0 + 3600 / 60, clock_rate=60) - hours_of(259200.0, clock_rate=60)
    (0.0, 1.0)
    """
    return epoch * clock_rate / 3600 - _FIRST_SUNDAY


def epoch_of(hours: Any, clock_rate: float = 1.0) -> Any:
    """The inverse of `hours_of`.

    >>> round(epoch_of(hours_of(1e9)), 3)
    1000000000.0
    """
    return (hours + _FIRST_SUNDAY) * 3600 / clock_rate
