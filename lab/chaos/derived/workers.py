"""Processes that compute derived data: one that runs to the end, or several that are killed repeatedly."""

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from django.db import connection

from apps.stories import actions as stories
from apps.summaries import actions as summaries
from apps.trending import actions as trending
from lab.chaos.derived import tables

WORKERS = 3
MAX_TURN_SECONDS = 20.0  # on one kind of work, like its task
MAINTENANCE_CHANCE = 0.1  # after a turn
IDLE_SECONDS = 0.05
POLL_SECONDS = 0.25

_Work = Callable[[], int | None]  # the number of processed changes; None if another worker holds the lock

# Forked, since starting an interpreter takes longer than most of them live. The parent calls no action itself, so the
# children inherit no caches.
_forked = multiprocessing.get_context("fork")


class WorkerFailed(Exception):
    """A worker exited by itself."""


KINDS: dict[str, _Work] = {
    "count": lambda: trending.count(wait=False),
    "slice": lambda: trending.slice_stale(wait=False),
    "group": lambda: stories.consuming.consume(wait=False),
    "summarise": lambda: summaries.consume(wait=False),
}


def _start(work: Callable[..., None], *arguments: object) -> BaseProcess:
    connection.close()  # must not be shared
    process = _forked.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


# --- once, serially ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Progress:
    waiting: int  # changes
    seconds: dict[str, float]  # by kind of work


def serially(now: datetime) -> Iterator[Progress]:
    """Process all waiting changes serially in a separate process."""
    receiving, sending = _forked.Pipe(duplex=False)
    process = _start(_work_through, sending, now)
    seconds: dict[str, float] = {}
    while process.is_alive():
        process.join(POLL_SECONDS)
        while receiving.poll():
            kind, spent = receiving.recv()
            seconds[kind] = spent
        yield Progress(tables.waiting(), seconds)
    if process.exitcode:
        raise WorkerFailed(f"Working serially ended with {process.exitcode}.")


def _work_through(sending: Connection, now: datetime) -> None:
    for kind, work in KINDS.items():
        begin = time.perf_counter()
        while work():
            pass
        sending.send((kind, time.perf_counter() - begin))
    stories.maintaining.maintain(now=now)


# --- several, killed --------------------------------------------------------------------------------------------------
class Workers:
    """Several processes that work until each is killed."""

    def __init__(self, now: datetime, *, seed: int) -> None:
        self._now, self._seed = now, seed
        self._chance = random.Random(seed)
        self._started = 0
        self._processes: dict[str, BaseProcess] = {}

    def __enter__(self) -> "Workers":
        for _ in range(WORKERS):
            self._add()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.kill()
            process.join()

    def _add(self) -> None:
        self._started += 1
        name = f"derived {self._started}"
        self._processes[name] = _start(_work_on, name, self._now, f"{self._seed} {self._started}")

    def check(self) -> None:
        """Raises WorkerFailed if one exited though it was not killed."""
        for name, process in self._processes.items():
            if process.exitcode is not None:
                raise WorkerFailed(f"Worker {name!r} ended with {process.exitcode}.")

    def kill_one(self) -> bool:
        """Kill one of them and start another; return whether it was in a transaction."""
        self.check()
        name = self._chance.choice(sorted(self._processes))
        process = self._processes.pop(name)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)  # so that its state does not change before it dies
        was_at_work = _is_in_transaction(name)
        process.kill()
        process.join()
        self._add()
        return was_at_work


def _is_in_transaction(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = %s AND xact_start IS NOT NULL)",
            [name],
        )
        return bool(cursor.fetchone()[0])


def _work_on(name: str, now: datetime, seed: str) -> None:
    chance, parent = random.Random(seed), os.getppid()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('application_name', %s, false)", [name])
    kinds = list(KINDS.values())
    while os.getppid() == parent:
        chance.shuffle(kinds)
        if not sum([_turn(work) for work in kinds]):
            time.sleep(IDLE_SECONDS)
        if chance.random() < MAINTENANCE_CHANCE:
            stories.maintaining.maintain(now=now)


def _turn(work: _Work) -> int:
    until, total = time.monotonic() + MAX_TURN_SECONDS, 0
    while time.monotonic() < until and (done := work()):
        total += done
    return total
