"""Made-up records of the thesis' kind: pages of hosts, of which few have most and some are slow."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.jobs.algorithms.estimates import Keys
from lab.benchmarks.splitting.hashing import hashed

FloatArray = NDArray[np.float64]

PAGES = 1.1  # the exponent of Pareto's law; its variance has no bound, so one host may have a good part of all
SPEED = 0.8  # standard deviation of the logarithm of the seconds per page
SLOW_HOSTS, SLOWER = 0.03, 12
ERROR = 0.3  # standard deviation of the logarithm of a host's past time divided by its present one
KINDS = 3  # of pages; like their sizes they say nothing of the time


class Records(NamedTuple):
    """Attributes of records in the order in which they came, and the time that each takes."""

    hosts: Keys
    kinds: Keys
    sizes: FloatArray  # bytes
    seconds: FloatArray

    def rows(self, begin: int, end: int) -> "Records":
        part = slice(begin, end)
        return Records(self.hosts[part], self.kinds[part], self.sizes[part], self.seconds[part])


def made_up(records: int, random: np.random.Generator) -> tuple[Records, Records]:
    """The same records as processed in the past and as they will be now.

    Hosts are drawn until they have enough pages for the records. All pages of a host take the same time.

    Parameters
    ----------
    records : int
        At least one.
    random : numpy.random.Generator

    Returns
    -------
    past, new : Records
        Of equal length; they differ in ``seconds`` alone.

    Examples
    --------
    >>> past, new = made_up(1000, np.random.default_rng(1))
    >>> len(new.seconds), np.array_equal(past.hosts, new.hosts), np.array_equal(past.seconds, new.seconds)
    (1000, True, False)
    """
    pages = np.floor(1 + random.pareto(PAGES, records)).astype(np.int64)  # more hosts than can be needed
    ends = np.minimum(np.cumsum(np.minimum(pages, records)), records)
    hosts = int(np.searchsorted(ends, records)) + 1
    pages = np.diff(ends[:hosts], prepend=0)
    speed = random.lognormal(0, SPEED, hosts) * np.where(random.random(hosts) < SLOW_HOSTS, SLOWER, 1)
    speed_before = speed * random.lognormal(0, ERROR, hosts)
    of_page = np.repeat(np.arange(hosts), pages)
    attributes = (
        hashed(of_page.astype(np.uint64)),
        random.integers(0, KINDS, records).astype(np.uint64),
        random.lognormal(9, 1, records),
    )
    return Records(*attributes, speed_before[of_page]), Records(*attributes, speed[of_page])
