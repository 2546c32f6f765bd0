"""Faults of sources: one for each faulty source, the same after every restart."""

import random
from collections.abc import Iterable
from enum import StrEnum

BLOCK = 6 * 3600.0  # recorded seconds; a source may have trouble at the beginning of a block
TROUBLE = 2 * 3600.0  # recorded seconds that trouble lasts
TROUBLED_SHARE = 0.3  # share of the blocks that begin with trouble


class Fault(StrEnum):
    SLOW = "slow"
    IGNORES_CONDITIONS = "ignores conditions"  # offers validators, yet never answers 304
    NO_VALIDATORS = "no validators"
    SERVER_ERROR = "server error"  # 500 at times
    TOO_MANY_REQUESTS = "too many requests"  # 429 at times, Retry-After in seconds
    UNAVAILABLE = "unavailable"  # 503 at times, Retry-After as a date
    TRUNCATED = "truncated"  # at times the connection breaks in the middle of the body
    WRONG_CHARSET = "wrong charset"  # the header says latin-1, the bytes are UTF-8
    REDIRECT = "redirect"  # 302
    MOVED = "moved"  # 301
    GONE = "gone"  # 410 from some time on


def choose_faults(sources: Iterable[int], share: float, seed: int) -> dict[int, Fault]:
    """Give about `share` (0..1) of the sources a fault each.

    Raises ValueError if `share` is not between 0 and 1.

    >>> choose_faults([1, 2, 3], 0.0, seed=1)
    {}
    >>> sorted(choose_faults([1, 2, 3], 1.0, seed=1))
    [1, 2, 3]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the share of faulty sources must lie between 0 and 1, not {share}")
    kinds = list(Fault)
    draws = ((source, random.Random(f"fault {seed} {source}")) for source in sources)
    return {source: draw.choice(kinds) for source, draw in draws if draw.random() < share}


def trouble_until(source: int, recorded: float) -> float | None:
    """The end of the trouble that `source` has at a recorded time, or None if it has none.

    Both are seconds since 1970 in recorded time.

    >>> times = [hour * 3600.0 for hour in range(1000)]
    >>> troubled = [time for time in times if trouble_until(1, time)]
    >>> all(trouble_until(1, time) > time for time in troubled), 50 < len(troubled) < 150
    (True, True)
    """
    block, elapsed = divmod(recorded, BLOCK)
    if elapsed < TROUBLE and random.Random(f"trouble {source} {block}").random() < TROUBLED_SHARE:
        return block * BLOCK + TROUBLE
    return None


def gone_from(source: int, begin: float, end: float) -> float:
    """The time between `begin` and `end` from which a source with the fault GONE is gone.

    >>> 100.0 <= gone_from(3, 100.0, 200.0) <= 200.0
    True
    """
    return begin + random.Random(f"gone {source}").random() * (end - begin)
