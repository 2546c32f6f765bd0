"""A job done by several processes, one of which may be killed in the middle."""

import multiprocessing
import os
import random
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from django.db import connection

from apps.jobs import actions, queries
from apps.jobs.actions import working
from apps.jobs.models import Job
from apps.jobs.queries import Progress
from apps.retrieval import sandbox
from apps.search.algorithms.index.reading import read

WATCHED_EVERY = 0.2  # s
IDLE = 0.1  # s that a worker waits while others do the remaining work
KILLED_AT = 0.3  # of the records

# Forked, so that the start of Python is not measured. The parent does not read the index, so the children inherit no
# caches.
_forked = multiprocessing.get_context("fork")


class WorkerFailed(Exception):
    """A worker or its job ended unexpectedly."""


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    cpu: float  # s, of the workers and their children; Postgres' own not included
    killed: bool


def run(kind: str, workers: int, *, kill: int | None = None) -> Iterator[Progress | Run]:
    """Run a job with several workers; `kill` is the seed for killing one. Yields the progress, and finally the figures.

    Raises WorkerFailed if a worker exits by itself or the job fails.
    """
    read("The vote", "The council voted on Tuesday to keep the old bridge open.")  # loads the models of all workers
    job, _ = actions.claiming.create(kind, requested_by="benchmark_jobs")
    actions.advancing.advance(job.pk)
    chance, killed, used, begin = random.Random(kill), False, _used(), time.perf_counter()
    with _working(job.pk, workers) as processes:
        while (now := Job.objects.get(pk=job.pk)).state in Job.ACTIVE:
            progress = queries.progress([now])[job.pk]
            at_work = sorted({attempt.worker for attempt in queries.running(job.pk)} & processes.keys())
            if kill is not None and not killed and progress.share >= KILLED_AT and at_work:
                victim = processes.pop(chance.choice(at_work))
                victim.kill()
                victim.join()
                killed = True
            if any(process.exitcode for process in processes.values()):
                raise WorkerFailed("A worker ended though nobody had killed it.")
            actions.advancing.advance(job.pk)  # as beat does
            yield progress
            time.sleep(WATCHED_EVERY)
    seconds = time.perf_counter() - begin
    if now.state != Job.State.DONE:
        raise WorkerFailed(f"Job {job.pk} is {now.state}: {now.problem}")
    yield Run(seconds, _used() - used, killed)


@contextmanager
def _working(job_id: int, count: int) -> Iterator[dict[str, BaseProcess]]:
    """Workers by name; the caller removes those that it has killed."""
    connection.close()  # must not be shared
    names = [f"worker {number}" for number in range(count)]
    processes: dict[str, BaseProcess] = {name: _forked.Process(target=_work, args=(name, job_id)) for name in names}
    for process in processes.values():
        process.start()
    try:
        yield processes
        for process in processes.values():
            process.join()
    finally:
        for process in processes.values():
            process.kill()
            process.join()


def _work(name: str, job_id: int) -> None:
    parent = os.getppid()
    while os.getppid() == parent and Job.objects.get(pk=job_id).state in Job.ACTIVE:
        if not working.work(name, job_id):
            time.sleep(IDLE)
    sandbox.stop()


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
