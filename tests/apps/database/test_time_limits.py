"""Tasks that work in batches end when their worker is to stop: it waits for them."""

from apps.database.outbox import run_batches
from apps.database.time_limits import stopping
from portal import celery


def test_no_batch_begins_once_the_worker_is_to_stop():
    begun = []

    def work(size: int, *, wait: bool) -> int:
        begun.append(size)
        if len(begun) == 2:
            celery.worker_shutting_down.send(sender="worker")
        return size  # the batch was full

    try:
        run_batches((work, 5), (work, 7))
    finally:
        stopping.clear()
    assert begun == [5, 5]
