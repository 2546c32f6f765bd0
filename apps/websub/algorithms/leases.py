"""How long subscriptions last, and when they are renewed or requested again."""

import re
from datetime import timedelta

from apps.database.backoff import backoff

REQUESTED = timedelta(days=10)
MAX_LEASE = timedelta(days=30)  # a longer one that a hub grants is not relied on
RSSCLOUD = timedelta(hours=25)  # what servers of rssCloud grant
RENEWED_AFTER = 0.8  # of a lease
SOONEST_RENEWAL = timedelta(minutes=5)  # even for a shorter lease
FIRST_WAIT = timedelta(minutes=10)  # for a confirmation; three times as long after each further request
MAX_FAILURES = 5
PAUSE = timedelta(weeks=1)  # after MAX_FAILURES

_WHOLE = re.compile(r"[0-9]{1,18}")


def granted(lease_seconds: str) -> timedelta:
    """The lease that a hub's `hub.lease_seconds` grants; the requested one if it cannot be parsed.

    >>> granted("86400").days, granted("99999999999").days, granted("for ever").days
    (1, 30, 10)
    """
    number = lease_seconds.strip()
    seconds = int(number) if _WHOLE.fullmatch(number) else 0
    return timedelta(seconds=min(seconds, MAX_LEASE.total_seconds())) if seconds else REQUESTED


def until_renewal(lease: timedelta) -> timedelta:
    """How long after its confirmation a lease is renewed.

    >>> until_renewal(timedelta(days=10)).days
    8
    """
    return max(lease * RENEWED_AFTER, SOONEST_RENEWAL)


def until_repetition(failures: int) -> timedelta:
    """How long after the `failures`-th unconfirmed request in a row the next one is sent.

    >>> [until_repetition(failures) / timedelta(minutes=10) for failures in (1, 2, 3, 4)], until_repetition(5).days
    ([1.0, 3.0, 9.0, 27.0], 7)
    """
    if failures >= MAX_FAILURES:
        return PAUSE
    first, longest = FIRST_WAIT.total_seconds(), PAUSE.total_seconds()
    return timedelta(seconds=backoff(max(failures, 1), first, longest, factor=3.0))
