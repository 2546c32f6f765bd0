"""How a worker retrieves many sources at once: one event loop per process fetches, a few threads parse and store.

A task hands in the claims of its message and returns once they are begun: from then on heartbeats keep them, and a slow
host delays only itself. Results that arrive close together are stored in one transaction.
"""

import asyncio
import logging
import random
import resource
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import uvloop
from django.db import DatabaseError, InterfaceError, OperationalError, connection, connections

from apps.database.backoff import backoff
from apps.database.clock import DatabaseClock
from apps.database.time_limits import RARE_SECONDS, stopping
from apps.retrieval import actions, queries, sandbox
from apps.retrieval.crawler.page_fetches import PAGES_FIRST, CrawlBatch, PageFetch, read_page, with_document_kept
from apps.retrieval.http.connections import SHARES
from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.results import Assignment, Read, decide, is_read_apart, parse_response
from apps.retrieval.http.robots import RobotsFetcher, keep_document
from apps.retrieval.models import Page
from apps.retrieval.scheduler.claims import HEARTBEAT_SECONDS, Claim
from apps.retrieval.worker.icons import IconFinder, page_of
from apps.sources.actions.icons import begin_icon_searches, finish_icon_search
from apps.sources.algorithms.addresses import host, registrable_domain
from apps.sources.models import Source

logger = logging.getLogger(__name__)

FIRST_STORE_SIZE = 4  # results in one transaction, so that the first of many are visible soon; doubled while more wait
STORE_SIZE = 32  # results in one transaction at most
STORE_BYTES = 2**20  # of documents in one transaction at most
STORING_THREADS = 2  # one parses while the other waits for Postgres
MAX_UNSTORED_BYTES = 128 * 2**20  # of fetched documents; no further request is sent while more wait to be stored
MAX_WAITING = 50  # requests without a connection: while there are more, parsing leaves the processor to sending,
# except for the first documents of new sources, which a person waits for
HOLD_BACK = 0.05  # s
HELD_BACK_BYTES = 0.9 * MAX_UNSTORED_BYTES  # of documents that may wait for that
MAX_IN_FLIGHT = 10_000  # sources begun and not stored, of each kind
MAX_WAITING_TASKS = 4  # for room, of each kind; further messages are dropped and published again
WAIT_FOR_ROOM = 5.0  # s
STOP_SECONDS = 0.5  # until pages and icons notice that the worker is to stop
DRAIN_SECONDS = 5.0  # that retrievals under way have when the worker stops
SWITCH_INTERVAL = 0.001  # s that a thread which parses may keep the event loop waiting
PATIENCE = 120.0  # s; how long the database may be away before work is left to its leases

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Fetch:
    assignment: Assignment
    fetched: Fetched
    stored: "asyncio.Future[None]"
    read: Read | None = None  # of documents that a child process reads, which takes long


class Engine:
    """Fetches and stores for all tasks of a worker process."""

    def __init__(self) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL)
        _raise_file_limit()
        self._loop = uvloop.new_event_loop()
        self._fetches: asyncio.Queue[Fetch] = asyncio.Queue()
        self._storing_threads = ThreadPoolExecutor(STORING_THREADS, thread_name_prefix="store")
        self._reading_threads = ThreadPoolExecutor(max_workers=sandbox.CHILDREN, thread_name_prefix="read")
        # A worker whose own clock is wrong would repeat its retrievals at once, or never.
        self._clock = DatabaseClock()
        self._fetcher = RobotsFetcher(self._clock.counted)
        self._heartbeats: Heartbeats | None = None
        self._in_flight = {False: 0, True: 0}  # sources, by whether it is their first retrieval
        self._waiting_tasks = {False: 0, True: 0}
        self._room = threading.Condition()  # guards both
        self._unstored_bytes = 0
        self._may_fetch = asyncio.Event()
        self._may_fetch.set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="retrieval", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._fetcher.__aenter__(), self._loop).result()
        for _ in range(STORING_THREADS):
            asyncio.run_coroutine_threadsafe(self._serve(), self._loop)

    def send_heartbeats(self, worker: str) -> None:
        """Begin to send heartbeats."""
        with self._room:
            if self._heartbeats is None:
                self._heartbeats = Heartbeats(worker)

    def submit(self, claims: Sequence[Claim], *, worker: str, first: bool) -> None:
        """Begin the claimed sources and return; they are fetched and stored in the background.

        If too many are under way, the claims stay unbegun, and beat publishes them again.
        """
        self.send_heartbeats(worker)
        if self._make_room(first):
            self._begin(claims, worker)
        else:
            logger.warning("%d claims are left to a later message: too many sources are under way", len(claims))

    def retrieve(self, claims: Sequence[Claim], *, worker: str) -> None:
        """Retrieve the claimed sources; returns when all are stored."""
        if done := self._begin(claims, worker):
            done.result()

    def _begin(self, claims: Sequence[Claim], worker: str) -> "Future[None] | None":
        now = with_retries(self._clock.now)
        assignments = with_retries(lambda: actions.start(claims, worker=worker, now=now))
        if not assignments:
            return None
        robots = with_retries(lambda: queries.fresh_robots([assignment.url for assignment in assignments], now))
        self._count(assignments, 1)
        return asyncio.run_coroutine_threadsafe(self._retrieve_all(assignments, robots), self._loop)

    def _make_room(self, first: bool) -> bool:
        """Whether sources may be begun; waits a little for others to end."""
        with self._room:
            if self._in_flight[first] < MAX_IN_FLIGHT:
                return True
            if self._waiting_tasks[first] >= MAX_WAITING_TASKS:
                return False
            self._waiting_tasks[first] += 1
            try:
                return self._room.wait_for(lambda: self._in_flight[first] < MAX_IN_FLIGHT, WAIT_FOR_ROOM)
            finally:
                self._waiting_tasks[first] -= 1

    def _count(self, assignments: Iterable[Assignment], change: int) -> None:
        with self._room:
            for assignment in assignments:
                self._in_flight[assignment.is_first] += change
            self._room.notify_all()

    def fetch_batch(self, source_id: int) -> bool:
        """Fetch and store the next pages of a source; False if there was nothing to do."""
        batch = with_retries(lambda: actions.begin_batch(source_id, now=self._clock.now()))
        if batch is None:
            return False
        robots = with_retries(lambda: queries.fresh_robots([page.url for page in batch.pages], self._clock.counted()))
        fetches = self._finish(self._fetch_pages(batch, robots))
        if fetches is None:
            return False
        fetches = [with_document_kept(fetch, now=self._clock.counted()) for fetch in fetches]
        return with_retries(lambda: actions.store_batch(batch, fetches, now=self._clock.now()))

    def find_icons(self, source_ids: Collection[int]) -> int:
        """Search for the icons of sources; returns, when all are stored, of how many."""
        sources = with_retries(lambda: begin_icon_searches(source_ids, now=self._clock.now()))
        robots = queries.fresh_robots(map(page_of, sources), self._clock.counted())
        finder = IconFinder(self._fetcher, robots, self._reading_threads)
        by_site: defaultdict[str, list[Source]] = defaultdict(list)
        for source in sources:
            by_site[registrable_domain(host(source.url))].append(source)

        async def find_in_turn(site: Sequence[Source]) -> None:
            for source in site:
                png = await finder.find(source)
                store = partial(finish_icon_search, source, png, now=self._clock.counted())
                await self._loop.run_in_executor(self._storing_threads, store)

        async def find_all() -> None:
            # One after another at a site: a due feed there waits for at most one request.
            await asyncio.gather(*map(find_in_turn, by_site.values()))

        self._finish(find_all())
        return len(sources)

    def _finish(self, work: Coroutine[Any, Any, Result]) -> Result | None:
        """Its result; None if the worker stops before."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not wait([future], STOP_SECONDS).done:
            if stopping.is_set():
                future.cancel()
                return None
        return future.result()

    def stop(self) -> None:
        """Wait a moment for retrievals under way, release the rest, and close all connections."""
        with self._room:
            self._room.wait_for(lambda: not any(self._in_flight.values()), DRAIN_SECONDS)
        asyncio.run_coroutine_threadsafe(self._end_tasks(), self._loop).result()
        asyncio.run_coroutine_threadsafe(self._fetcher.__aexit__(None, None, None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for threads in (self._storing_threads, self._reading_threads):
            threads.shutdown()
        if self._heartbeats is not None:
            self._heartbeats.stop()
        sandbox.stop()

    @staticmethod
    async def _end_tasks() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self) -> None:
        store_size = FIRST_STORE_SIZE
        while True:
            try:
                async with asyncio.timeout(RARE_SECONDS):
                    batch = [await self._fetches.get()]
            except TimeoutError:  # of one of the threads; the next time it may be another's
                await self._loop.run_in_executor(self._storing_threads, connections.close_all)
                continue
            while self._sending_goes_first() and not batch[0].assignment.is_first:
                await asyncio.sleep(HOLD_BACK)
            size = len(batch[0].fetched.body)
            while len(batch) < store_size and size < STORE_BYTES and not self._fetches.empty():
                batch.append(self._fetches.get_nowait())
                size += len(batch[-1].fetched.body)
            store_size = FIRST_STORE_SIZE if self._fetches.empty() else min(2 * store_size, STORE_SIZE)
            robots = self._fetcher.take_learned_robots()
            try:
                await self._loop.run_in_executor(self._storing_threads, store, batch, robots)
            except Exception:  # the next batch may succeed, and this one is due again after its leases
                logger.exception("could not store %d results", len(batch))
            self._note_unstored(-sum(len(each.fetched.body) for each in batch))
            for each in batch:
                if not each.stored.done():
                    each.stored.set_result(None)

    def _sending_goes_first(self) -> bool:
        return self._fetcher.waiting > MAX_WAITING and self._unstored_bytes < HELD_BACK_BYTES

    def _note_unstored(self, change: int) -> None:
        self._unstored_bytes += change
        if self._unstored_bytes < MAX_UNSTORED_BYTES:
            self._may_fetch.set()
        else:
            self._may_fetch.clear()

    async def _retrieve_all(self, assignments: Sequence[Assignment], robots: dict[str, str]) -> None:
        await asyncio.gather(*(self._retrieve_one(assignment, robots) for assignment in assignments))

    async def _retrieve_one(self, assignment: Assignment, robots: dict[str, str]) -> None:
        try:
            request = FetchRequest(
                url=assignment.url,
                validators=assignment.validators,
                subscribers=assignment.followers,
                first=assignment.is_first,
            )
            await self._may_fetch.wait()
            fetched = await self._fetcher.fetch_allowed(request, robots)
            read = await self._read_apart(assignment, fetched, robots) if is_read_apart(assignment) else None
            stored: asyncio.Future[None] = self._loop.create_future()
            self._note_unstored(len(fetched.body))
            self._fetches.put_nowait(Fetch(assignment, fetched, stored, read))
            await stored
        except Exception:  # it is due again after its lease
            logger.exception("could not retrieve %s", assignment.url)
        finally:
            self._count([assignment], -1)

    async def _read_apart(self, assignment: Assignment, fetched: Fetched, robots: dict[str, str]) -> Read:
        """Read a response, and the further pages that it leads to, in a child process."""
        further: list[Fetched] = []
        while True:
            read = await self._loop.run_in_executor(
                self._reading_threads, parse_response, assignment, fetched, tuple(further)
            )
            if not read.next_url:
                return read
            further.append(
                await self._fetcher.fetch_allowed(FetchRequest(url=read.next_url, accept=PAGES_FIRST), robots)
            )

    async def _fetch_pages(self, batch: CrawlBatch, robots: dict[str, str]) -> list[PageFetch]:
        async def fetch(page: Page) -> PageFetch:
            fetched = await self._fetcher.fetch_allowed(
                FetchRequest(url=page.url, accept=PAGES_FIRST), robots, crawling=True
            )
            return await self._loop.run_in_executor(self._reading_threads, read_page, batch.crawl, page, fetched)

        return await asyncio.gather(*(fetch(page) for page in batch.pages))


def store(batch: Sequence[Fetch], robots: Mapping[str, str] = MappingProxyType({})) -> None:
    """Store results in one transaction; if that fails, one by one, so that a bad one does not affect the others."""
    if robots:
        with_retries(lambda: actions.remember_robots(robots, now=datetime.now(UTC)))
    try:
        results = [decide(each.assignment, each.fetched, jitter=random.random(), read=each.read) for each in batch]
        with_retries(lambda: actions.store(results))
    except (OperationalError, InterfaceError) as error:
        logger.error("could not store %d results, they are due again after their leases: %s", len(batch), error)
        return
    except Exception:
        if len(batch) == 1:
            logger.exception("could not store the result of %s", batch[0].assignment.url)
        else:
            for each in batch:
                store([each])
        return
    for result in results:
        # Whole ones, which a delta is not, and those to repair recipes by.
        if result.fetched.status == 200 and (result.read.feed is not None or is_read_apart(result.assignment)):
            keep_document(result.assignment.url, result.fetched)


def with_retries(do: Callable[[], Result]) -> Result:
    """Retry with back-off while the database is away, and after deadlocks."""
    deadline = time.monotonic() + PATIENCE
    failures = 0
    while True:
        try:
            return do()
        except (OperationalError, InterfaceError):
            connections["default"].close()
            if time.monotonic() > deadline:
                raise
            failures += 1
            time.sleep(backoff(failures, 0.1, 5.0))


def _raise_file_limit() -> None:
    """Allow as many open files as there are connections, where the system's soft limit is lower than its hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * SHARES.total
    if soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


_making = threading.Lock()
_engines: list[Engine] = []


def current() -> Engine:
    """This process's engine, created by the first task; the first tasks run in several threads at once."""
    with _making:
        if not _engines:
            _engines.append(Engine())
        return _engines[0]


def stop() -> bool:
    """Stop this process's engine; False if there is none."""
    with _making:
        stopping = list(_engines)
        _engines.clear()
    for engine in stopping:
        engine.stop()
    return bool(stopping)


# --- heartbeats: while they arrive, what a worker has begun is not released -------------------------------------------
class Heartbeats:
    """Sends a first heartbeat at once and one every two seconds from then on, in a thread of its own."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self._stopping = threading.Event()
        self._send()  # before anything is begun
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.wait(HEARTBEAT_SECONDS):
                self._send()
        finally:
            connection.close()

    def _send(self) -> None:
        try:
            actions.heartbeat(self.worker)
        except (DatabaseError, InterfaceError) as error:
            logger.warning("no heartbeat could be sent: %s", error)
            connection.close()
