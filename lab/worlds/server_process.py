"""A replay's server in a separate process, so that it does not share an interpreter with the measurement."""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import aiohttp

from lab.worlds.addresses import Addresses, Kind
from lab.worlds.feed import Feed
from lab.worlds.leases import lease
from lab.worlds.lines import Line, Published, Request, Start
from lab.worlds.responses import Options
from lab.worlds.server import BACKLOG, LOOPBACK, Replay, serving
from lab.worlds.synthetic import make_steady_feeds
from lab.worlds.trace import steady

POSTING_GAP = timedelta(hours=1)  # between two postings of a feed
POSTINGS = 40  # in a feed
STARTING_TIMEOUT = 120.0  # s

# Forked, it would share this process' connections to the database.
_spawned = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class _Clock:
    """Stands still until it is moved: feeds change between measurements only."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class _Record:
    """The record, with requests at the real time of their arrival."""

    others: list[Line] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __call__(self, line: Line) -> None:
        if isinstance(line, Request):
            self.requests.append(replace(line, at=time.time()))
        else:
            self.others.append(line)


class Server:
    """The running process; made by `serving_apart`."""

    def __init__(self, connection: Connection, feeds: Sequence[Feed], addresses: Addresses, silent_port: int) -> None:
        self.feeds = feeds
        self.addresses = addresses
        self.silent_port = silent_port  # accepts connections and never answers
        self._connection = connection

    def publish(self) -> None:
        """Publish one more change in every feed."""
        self._call("publish")

    def take_requests(self) -> list[Request]:
        """The requests since the last call; `at` is when each arrived, in real seconds since 1970."""
        taken: list[Request] = self._call("take_requests")
        return taken

    def published(self) -> list[Start | Published]:
        """The start, and every posting that a feed has shown."""
        lines: list[Start | Published] = self._call("published")
        return lines

    def cpu_seconds(self) -> float:
        seconds: float = self._call("cpu_seconds")
        return seconds

    def _call(self, name: str) -> Any:
        self._connection.send(name)
        return self._connection.recv()


@contextmanager
def serving_apart(
    feeds: int,
    *,
    seed: int,
    changes: int = 0,
    at_once: int = 1,
    postings: int = POSTINGS,
    recorded: Sequence[Feed] = (),
) -> Iterator[Server]:
    """Serve made-up feeds with so many postings each that can `publish` up to `changes` times.

    A change is `at_once` postings in every feed. With a recording its texts are published instead of made-up ones. The
    portal may reach the feeds within the block.

    Raises
    ------
    EOFError
        If the server cannot start.
    """
    begin = datetime.now(UTC) - (changes + 1) * POSTING_GAP
    hours = [float(number) for number in range(1 - postings, 1)]
    hours += [(number + 1) / at_once for number in range(changes * at_once)]
    times = [(begin + hour * POSTING_GAP).timestamp() for hour in hours]
    made = steady(recorded, feeds, times) if recorded else make_steady_feeds(feeds, seed=seed, times=times)
    ours, theirs = _spawned.Pipe()
    process = _spawned.Process(target=_serve, args=(theirs, made, begin, postings), name="replay", daemon=True)
    process.start()
    theirs.close()
    try:
        addresses, silent_port = ours.recv()
        silent = replace(addresses, port=silent_port)
        with lease(addresses.open_host), lease(silent.open_host):
            yield Server(ours, made, addresses, silent_port)
    finally:
        ours.close()
        process.join(timeout=STARTING_TIMEOUT)
        process.kill()


def _serve(connection: Connection, feeds: Sequence[Feed], begin: datetime, postings: int) -> None:
    """Serve until the other end of the pipe is closed."""
    clock, record = _Clock(begin), _Record()
    options = Options(window=postings, kept_bodies=2 * len(feeds))
    with _silence() as silent_port, serving(feeds, clock=clock, options=options, record=record) as replay:
        replay.render_all()
        connection.send((replay.addresses, silent_port))
        with suppress(EOFError):
            while True:
                connection.send(_execute(connection.recv(), replay, clock, record))


def _execute(name: str, replay: Replay, clock: _Clock, record: _Record) -> Any:
    match name:
        case "publish":
            clock.now += POSTING_GAP
            replay.render_all()
            return None
        case "take_requests":
            taken, record.requests = record.requests, []
            return taken
        case "cpu_seconds":
            return time.process_time()
    return record.others


@contextmanager
def _silence() -> Iterator[int]:
    """A port of loopback that accepts every connection and never answers."""
    loop = asyncio.new_event_loop()

    async def listen() -> int:
        server = await asyncio.start_server(_read_forever, LOOPBACK, 0, backlog=BACKLOG)
        port: int = server.sockets[0].getsockname()[1]
        return port

    def end() -> None:
        for task in asyncio.all_tasks(loop):  # each is a connection
            task.cancel()
        loop.call_soon(loop.stop)

    port = loop.run_until_complete(listen())
    thread = Thread(target=loop.run_forever, name="silence", daemon=True)
    thread.start()
    yield port
    loop.call_soon_threadsafe(end)
    thread.join()


async def _read_forever(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while await reader.read(1024):
            pass
    writer.close()


# --- the baseline -----------------------------------------------------------------------------------------------------
def fetch_all(server: Server, feeds: Sequence[Feed], *, host_gap: float | None = None) -> float:
    """Seconds in which a bare client fetches feeds, all at once; with a gap, each host's robots.txt that long before.

    Nothing is parsed or stored, so no portal can be quicker.
    """
    started = time.perf_counter()
    asyncio.run(_fetch_all(server.addresses, feeds, host_gap))
    seconds = time.perf_counter() - started
    server.take_requests()
    return seconds


async def _fetch_all(addresses: Addresses, feeds: Sequence[Feed], host_gap: float | None) -> None:
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def fetch(number: int, path: str) -> None:
            host = addresses.site(number).removeprefix("http://")
            url = f"http://{LOOPBACK}:{addresses.port}{path}"
            async with session.get(url, headers={"Host": host, "Accept-Encoding": "gzip"}) as response:
                await response.read()

        async def visit(feed: Feed) -> None:
            if host_gap is not None:
                await fetch(feed.number, "/robots.txt")
                await asyncio.sleep(host_gap)
            await fetch(feed.number, "/feed")

        await asyncio.gather(*map(visit, feeds))


def feed_arrivals(requests: Sequence[Request], since: float = 0.0) -> dict[int, float]:
    """When the first request for each feed since then arrived, by the number of the feed; real seconds since 1970."""
    first: dict[int, float] = {}
    for request in requests:
        if request.kind == Kind.FEED and request.source is not None and request.at >= since:
            first.setdefault(request.source, request.at)
    return first
