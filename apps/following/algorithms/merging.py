"""Last-writer-wins merging of changes, in whatever order they arrive."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

MAX_TRANSIT = timedelta(seconds=30)  # of a message, in a bad network

Register = tuple[int, str]  # what is changed, such as the star of posting 7


class Write(NamedTuple):
    register: Register
    value: bool
    made_at: datetime


class Merged(NamedTuple):
    values: dict[Register, Write]  # the last write of each register that changes
    is_latest: tuple[bool, ...]  # whether each write was later than all before, in their order


def merged(changed_at: Mapping[Register, datetime], writes: Sequence[Write]) -> Merged:
    """Apply writes to registers that have no later one.

    Parameters
    ----------
    changed_at : mapping
        When each register was last written; without those that never were.
    writes : sequence of Write
        In the order in which one device made them. Of two writes at the same time the later in the sequence wins, but
        none wins over a known one of the same time, so that a repeated write changes nothing.

    Returns
    -------
    Merged

    Notes
    -----
    A last-writer-wins register [1]_: writes at different times lead to the same values however they are split up and
    ordered. O(n log n).

    References
    ----------
    .. [1] M. Shapiro, N. Preguiça, C. Baquero, M. Zawirski, "A comprehensive study of Convergent and Commutative
       Replicated Data Types", INRIA RR-7506, 2011, section 3.2.1.

    Examples
    --------
    Starred in the train at 9 and 10 o'clock, while the star was taken off elsewhere in between:

    >>> from datetime import UTC
    >>> nine, half_past, ten = (datetime(2024, 5, 1, *at, tzinfo=UTC) for at in [(9, 0), (9, 30), (10, 0)])
    >>> star = (7, "starred")
    >>> done = merged({star: half_past}, [Write(star, True, nine), Write(star, True, ten)])
    >>> done.is_latest, done.values[star].made_at == ten
    ((False, True), True)
    """
    values: dict[Register, Write] = {}
    is_latest = [False] * len(writes)
    for index in sorted(range(len(writes)), key=lambda index: writes[index].made_at):
        write = writes[index]
        known = changed_at.get(write.register)
        if known is None or write.made_at > known:
            values[write.register] = write
            is_latest[index] = True
    return Merged(values, tuple(is_latest))


def by_our_clock(made_at: datetime, *, sent_at: datetime, now: datetime) -> datetime:
    """The time of a change by our clock, given the device's times of the change and of sending it.

    If the message seems to have taken `MAX_TRANSIT` at most, the device's clock is right and its time is used. Any
    other clock may be wrong by years: the change is then as long before `now` as it is before `sent_at`. The result is
    never after `now`.

    >>> from datetime import UTC
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> by_our_clock(datetime(2031, 1, 1, 8, tzinfo=UTC), sent_at=datetime(2031, 1, 1, 9, tzinfo=UTC), now=noon).hour
    11
    """
    if timedelta(0) <= now - sent_at <= MAX_TRANSIT:
        return min(now, made_at)
    return min(now, now - (sent_at - made_at))
