"""Which queue a partition's messages go to, so that hosts may share out the sites among them."""

from apps.sources.algorithms.partitions import PARTITIONS

EVERYTHING = "celery"  # the queue of all other messages, and of these while there is one queue


def queue_of(partition: int, queues: int) -> str:
    """The queue, of so many, that serves a partition: neighbours share one, and all have about as many.

    >>> [queue_of(partition, 4) for partition in (0, 15, 16, 63)]
    ['retrieval-0', 'retrieval-0', 'retrieval-1', 'retrieval-3']
    >>> queue_of(63, 1)
    'celery'
    """
    return EVERYTHING if queues == 1 else f"retrieval-{partition * queues // PARTITIONS}"


def all_queues(queues: int) -> list[str]:
    """Every queue that is written to.

    >>> all_queues(2)
    ['celery', 'retrieval-0', 'retrieval-1']
    """
    return list(dict.fromkeys([EVERYTHING, *(queue_of(partition, queues) for partition in range(PARTITIONS))]))
