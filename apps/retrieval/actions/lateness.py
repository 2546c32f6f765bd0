"""Count how late retrievals were."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

from apps.database.statements import execute
from apps.retrieval.models import Retrieval
from apps.retrieval.queries.lateness import BUCKETS, late

SHARDS = 8

_COUNT = """
INSERT INTO retrieval_latenessbucket AS known (stage, upper_seconds, shard, count, seconds)
SELECT stage, upper_seconds, pg_backend_pid() %% %s, count, seconds
FROM unnest(%s::text[], %s::float8[], %s::bigint[], %s::float8[]) new(stage, upper_seconds, count, seconds)
ORDER BY stage, upper_seconds
ON CONFLICT (stage, upper_seconds, shard)
DO UPDATE SET count = known.count + excluded.count, seconds = known.seconds + excluded.seconds
"""


def count_lateness(retrievals: Iterable[Retrieval]) -> None:
    """Count retrievals into the histogram; call it last in the transaction that stores them.

    All batches update the same few rows and keep them locked until they commit: called last, that is the time of a
    commit. Connections of different shards update different rows; those of one shard lock them in one order.
    """
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    for retrieval in retrievals:
        if (seconds := late(retrieval)) is not None:
            for stage, value in seconds._asdict().items():
                found[stage, BUCKETS[bisect_left(BUCKETS, value)]].append(value)
    if found:
        stages, bounds = zip(*found, strict=True)
        counts, sums = [len(values) for values in found.values()], [sum(values) for values in found.values()]
        execute(_COUNT, [SHARDS, list(stages), list(bounds), counts, sums])
