"""The queues of retrievals, which have no other messages, so that nothing else delays them.

Hosts may divide the partitions among them. First retrievals have queues of their own, so that an import of many feeds
and the feeds that are due do not wait for each other.
"""

from apps.sources.algorithms.partitions import PARTITIONS

DERIVED = "celery"  # the queue of all other tasks


def queue_of(partition: int, queues: int, *, first: bool = False) -> str:
    """The queue, out of `queues`, of a partition; neighbouring partitions share one.

    >>> [queue_of(partition, 4) for partition in (0, 15, 16, 63)]
    ['retrieval-0', 'retrieval-0', 'retrieval-1', 'retrieval-3']
    >>> queue_of(63, 1), queue_of(63, 1, first=True), queue_of(63, 2, first=True)
    ('retrieval', 'retrieval-first', 'retrieval-first-1')
    """
    name = "retrieval-first" if first else "retrieval"
    return name if queues == 1 else f"{name}-{partition * queues // PARTITIONS}"


def retrieval_queues(queues: int) -> list[str]:
    """The queues that retrieval workers consume.

    >>> retrieval_queues(1)
    ['retrieval', 'retrieval-first']
    """
    names = [queue_of(partition, queues, first=first) for first in (False, True) for partition in range(PARTITIONS)]
    return list(dict.fromkeys(names))


def all_queues(queues: int) -> list[str]:
    """Every queue that messages are published to.

    >>> all_queues(1)
    ['celery', 'retrieval', 'retrieval-first']
    """
    return [DERIVED, *retrieval_queues(queues)]
