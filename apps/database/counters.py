"""Histograms that all processes share, in the cache's Valkey: how long requests and tasks take.

Each process gathers what it observes and adds it every few seconds, so that a request costs no round trip. A scrape
reads the sums of all processes on all machines. If Valkey loses them, they start again at zero, as counters may.
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate
from math import inf

import redis
from django.conf import settings
from prometheus_client import core
from prometheus_client.core import Metric
from prometheus_client.utils import floatToGoString

FAMILIES = {
    "http_request_seconds": ("Seconds until requests were answered.", ["view", "status"]),
    "task_seconds": ("Seconds that tasks took.", ["task", "outcome"]),
    "task_waiting_seconds": ("Seconds from the publication of tasks until they began.", ["task"]),
}
KEY = "wirebeat:counters"  # of a hash
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 10.0, 30.0, 120.0, inf)  # s, upper bounds
FLUSH_SECONDS = 3.0
SUM = "sum"  # field of the sum, in place of a bucket's bound
SOCKET_SECONDS = 1.0

_lock = threading.Lock()
_pending: defaultdict[str, float] = defaultdict(float)


def observe(family: str, labels: tuple[str, ...], seconds: float) -> None:
    """Count a duration. Labels have a limited number of values, none with a vertical bar."""
    name = "|".join((family, *labels))
    _add({f"{name}|{BUCKETS[bisect_left(BUCKETS, seconds)]}": 1, f"{name}|{SUM}": seconds})


def _add(amounts: Mapping[str, float]) -> None:
    with _lock:
        is_first = not _pending
        for field, amount in amounts.items():
            _pending[field] += amount
    if is_first:  # no thread waits while nothing happens
        timer = threading.Timer(FLUSH_SECONDS, flush)
        timer.daemon = True
        timer.start()


def flush() -> None:
    """Add what this process has observed; while Valkey is away, keep it for the next flush."""
    with _lock:
        found = dict(_pending)
        _pending.clear()
    try:
        with _client() as client, client.pipeline(transaction=False) as pipeline:
            for field, amount in found.items():
                pipeline.hincrbyfloat(KEY, field, amount)
            pipeline.execute()
    except redis.RedisError:
        _add(found)


def metrics() -> Iterator[Metric]:
    """All histograms; empty ones while Valkey is away."""
    flush()
    try:
        with _client() as client:
            known = {field.decode(): float(value) for field, value in client.hgetall(KEY).items()}
    except redis.RedisError:
        known = {}
    for family, (meaning, names) in FAMILIES.items():
        metric = core.HistogramMetricFamily(f"wirebeat_{family}", meaning, labels=names)
        for field in sorted(field for field in known if field.startswith(f"{family}|") and field.endswith(f"|{SUM}")):
            name = field.removesuffix(f"|{SUM}")
            counts = accumulate(known.get(f"{name}|{upper}", 0.0) for upper in BUCKETS)
            buckets = [(floatToGoString(upper), count) for upper, count in zip(BUCKETS, counts, strict=True)]
            metric.add_metric(name.split("|")[1:], buckets, known[field])
        yield metric


def _client() -> redis.Redis:
    location = str(settings.CACHES["default"]["LOCATION"])
    return redis.Redis.from_url(location, socket_timeout=SOCKET_SECONDS, socket_connect_timeout=SOCKET_SECONDS)
