"""How a worker asks many sources at once: one event loop per process fetches, one thread reads and stores.

A task hands in its batch and waits. Answers that arrive close together, of whatever batches, are stored in one
transaction; a slow host delays only its own task.
"""

import asyncio
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from types import MappingProxyType
from typing import TypeVar

import uvloop
from django.db import InterfaceError, OperationalError, connections

from apps.database.clock import DatabaseClock
from apps.retrieval import actions, queries, sandbox
from apps.retrieval.asking import Asker, keep_document
from apps.retrieval.claims import Claim
from apps.retrieval.fetching import Fetched, FetchRequest
from apps.retrieval.looking import PAGES_FIRST, look_at, with_document_kept
from apps.retrieval.looks import Look, PageAssignment, Turn
from apps.retrieval.visits import Assignment, Read, conclude, is_read_apart, read_answer

logger = logging.getLogger(__name__)

STORE_SIZE = 50  # visits in one transaction
PATIENCE = 120.0  # s; how long the database may be away before work is given up to its leases

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Answered:
    assignment: Assignment
    fetched: Fetched
    stored: "asyncio.Future[None]"
    read: Read | None = None  # of documents that a child process reads, which takes long


class Engine:
    """Asks and stores for all tasks of a worker process."""

    def __init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        self._answers: asyncio.Queue[Answered] = asyncio.Queue()
        self._storing_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._reading_threads = ThreadPoolExecutor(max_workers=sandbox.CHILDREN, thread_name_prefix="read")
        # A worker whose own clock is wrong would ask again at once, or never, what it has just asked.
        self._clock = DatabaseClock()
        self._asker = Asker(self._clock.counted)
        self._thread = threading.Thread(target=self._loop.run_forever, name="retrieval", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._asker.__aenter__(), self._loop).result()
        self._serving = asyncio.run_coroutine_threadsafe(self._serve(), self._loop)

    def retrieve(self, claims: Sequence[Claim], *, worker: str) -> None:
        """Ask the claimed sources and store what they answer; returns when all are stored.

        Claims that are no longer valid are left out: another message carried them already.
        """
        now = patiently(self._clock.now)
        assignments = patiently(lambda: actions.start(claims, worker=worker, now=now))
        if assignments:
            robots = queries.fresh_robots([assignment.url for assignment in assignments], now)
            asyncio.run_coroutine_threadsafe(self._retrieve_all(assignments, robots), self._loop).result()

    def take_turn(self, source_id: int) -> bool:
        """Fetch the next pages of a source and store what they hold; False if there was nothing to do."""
        turn = patiently(lambda: actions.begin_turn(source_id, now=self._clock.now()))
        if turn is None:
            return False
        robots = queries.fresh_robots([page.url for page in turn.pages], self._clock.counted())
        looks = asyncio.run_coroutine_threadsafe(self._look_at_all(turn, robots), self._loop).result()
        looks = [with_document_kept(look, now=self._clock.counted()) for look in looks]
        return patiently(lambda: actions.store_turn(turn, looks, now=self._clock.now()))

    def stop(self) -> None:
        """Close all connections. What was not stored yet comes back with its lease."""
        asyncio.run_coroutine_threadsafe(self._asker.__aexit__(None, None, None), self._loop).result()
        self._serving.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._storing_thread.submit(connections.close_all)
        self._storing_thread.shutdown()
        self._reading_threads.shutdown()
        sandbox.stop()

    async def _serve(self) -> None:
        while True:
            batch = [await self._answers.get()]
            while len(batch) < STORE_SIZE and not self._answers.empty():
                batch.append(self._answers.get_nowait())
            robots = self._asker.take_learned_robots()
            try:
                await self._loop.run_in_executor(self._storing_thread, store, batch, robots)
            except Exception:  # whatever it was, the next batch is worth a try, and leases bring this one back
                logger.exception("could not store %d answers", len(batch))
            for answered in batch:
                if not answered.stored.done():
                    answered.stored.set_result(None)

    async def _retrieve_all(self, assignments: Sequence[Assignment], robots: dict[str, str]) -> None:
        await asyncio.gather(*(self._retrieve_one(assignment, robots) for assignment in assignments))

    async def _retrieve_one(self, assignment: Assignment, robots: dict[str, str]) -> None:
        request = FetchRequest(url=assignment.url, validators=assignment.validators, subscribers=assignment.followers)
        fetched = await self._asker.ask(request, robots)
        read = await self._read_apart(assignment, fetched, robots) if is_read_apart(assignment) else None
        stored: asyncio.Future[None] = self._loop.create_future()
        await self._answers.put(Answered(assignment, fetched, stored, read))
        await stored

    async def _read_apart(self, assignment: Assignment, fetched: Fetched, robots: dict[str, str]) -> Read:
        """What a child process makes of an answer, and of the pages that it leads to."""
        further: list[Fetched] = []
        while True:
            read = await self._loop.run_in_executor(
                self._reading_threads, read_answer, assignment, fetched, tuple(further)
            )
            if not read.next_url:
                return read
            further.append(await self._asker.ask(FetchRequest(url=read.next_url, accept=PAGES_FIRST), robots))

    async def _look_at_all(self, turn: Turn, robots: dict[str, str]) -> list[Look]:
        async def look(page: PageAssignment) -> Look:
            fetched = await self._asker.ask(FetchRequest(url=page.url, accept=PAGES_FIRST), robots, crawling=True)
            return await self._loop.run_in_executor(self._reading_threads, look_at, turn, page, fetched)

        return await asyncio.gather(*(look(page) for page in turn.pages))


def store(batch: Sequence[Answered], robots: Mapping[str, str] = MappingProxyType({})) -> None:
    """Conclude and store answers in one transaction; where that fails, one by one, so that none spoils the others."""
    if robots:
        patiently(lambda: actions.remember_robots(robots, now=datetime.now(UTC)))
    try:
        visits = [conclude(each.assignment, each.fetched, jitter=random.random(), read=each.read) for each in batch]
        patiently(lambda: actions.store(visits))
    except (OperationalError, InterfaceError) as error:
        logger.error("could not store %d answers, their leases bring them back: %s", len(batch), error)
        return
    except Exception:
        if len(batch) == 1:
            logger.exception("could not store the answer of %s", batch[0].assignment.url)
        else:
            for each in batch:
                store([each])
        return
    for visit in visits:
        is_whole = visit.fetched.status == 200  # a delta is not
        if is_whole and (visit.feed is not None or is_read_apart(visit.assignment)):  # by which paths are mended
            keep_document(visit.assignment.url, visit.fetched)


def patiently(do: Callable[[], Result]) -> Result:
    """Do something with the database; while it is away, or two transactions locked each other out, try again."""
    deadline = time.monotonic() + PATIENCE
    pause = 0.1
    while True:
        try:
            return do()
        except (OperationalError, InterfaceError):
            connections["default"].close()
            if time.monotonic() > deadline:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


_making = Lock()
_engines: list[Engine] = []


def current() -> Engine:
    """This process's engine, made by the first task; the first tasks come in several threads at once."""
    with _making:
        if not _engines:
            _engines.append(Engine())
        return _engines[0]


def stop() -> None:
    """Stop this process's engine, if a task has made one."""
    with _making:
        while _engines:
            _engines.pop().stop()
