"""How long subscriptions last, and when they are asked for again."""

import re
from datetime import timedelta

from apps.database.backoff import backoff

WISHED = timedelta(days=10)  # what we ask hubs for
MAX_WHAT = timedelta(days=30)  # what is believed of a hub that grants more: nobody remembers us for ever
RSSCLOUD = timedelta(hours=25)  # what servers of rssCloud grant
RENEWED_AFTER = 0.8  # of a lease
SOONEST_RENEWAL = timedelta(minutes=5)  # however short the lease
FIRST_WAIT = timedelta(minutes=10)  # for a confirmation; three times as long after each further request
MAX_FAILURES = 5
REST = timedelta(weeks=1)  # for which a hub is left alone that failed so often

_WHOLE = re.compile(r"[0-9]{1,18}")


def granted(said: str) -> timedelta:
    """The lease that a hub's `hub.lease_seconds` grants; what we wished for if it says nothing that can be read.

    >>> granted("86400").days, granted("99999999999").days, granted("for ever").days
    (1, 30, 10)
    """
    said = said.strip()
    seconds = int(said) if _WHOLE.fullmatch(said) else 0
    return min(timedelta(seconds=min(seconds, MAX_WHAT.total_seconds())), MAX_WHAT) if seconds else WISHED


def until_renewal(lease: timedelta) -> timedelta:
    """How long after its confirmation a lease is renewed.

    >>> until_renewal(timedelta(days=10)).days
    8
    """
    return max(lease * RENEWED_AFTER, SOONEST_RENEWAL)


def until_repetition(failures: int) -> timedelta:
    """How long after a request, the `failures`-th in a row without a confirmation, the next one is made.

    >>> [until_repetition(failures) / timedelta(minutes=10) for failures in (1, 2, 3, 4)], until_repetition(5).days
    ([1.0, 3.0, 9.0, 27.0], 7)
    """
    if failures >= MAX_FAILURES:
        return REST
    first, longest = FIRST_WAIT.total_seconds(), REST.total_seconds()
    return timedelta(seconds=backoff(max(failures, 1), first, longest, factor=3.0))
