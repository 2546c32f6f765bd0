"""The web server of a replay: loopback only, one thread, every source at a host name of its own."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Thread
from zlib import crc32

import uvloop
from aiohttp import web

from lab.worlds.addresses import Addresses, locate
from lab.worlds.faults import Fault
from lab.worlds.feed import Feed
from lab.worlds.lines import Line, Published, Request, Start
from lab.worlds.publishing import Publisher
from lab.worlds.responses import Options, ReplayedSites, Response
from lab.worlds.timeline import Timeline

LOOPBACK = "127.0.0.1"
BACKLOG = 1024  # connections that wait to be accepted
IDLE_TIMEOUT_SECONDS = 60.0
BREAK_AFTER = 0.4  # share of the body that is sent before the connection breaks

Setup = Mapping[str, str | int | float | bool | None]  # the options of a replay, kept in its record

NO_FAULTS: Mapping[int, Fault] = {}
NOTHING: Setup = {}
REAL_TIME = Timeline(origin=0.0, start=0.0, speed=1.0)
DEFAULTS = Options()


def addresses_of(timeline: Timeline, port: int) -> Addresses:
    """Addresses that depend on start and port, so that two replays never share postings."""
    return Addresses(port, run=f"{crc32(f'{timeline} {port}'.encode()):08x}")


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Memory:
    """A record in memory, for tests."""

    lines: list[Line] = field(default_factory=list)

    def __call__(self, line: Line) -> None:
        self.lines.append(line)

    @property
    def requests(self) -> list[Request]:
        return [line for line in self.lines if isinstance(line, Request)]

    @property
    def published(self) -> list[Published]:
        return [line for line in self.lines if isinstance(line, Published)]


class Replay:
    """A running server; made by `serving`."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        *,
        clock: Callable[[], datetime],
        timeline: Timeline,
        faults: Mapping[int, Fault],
        options: Options,
        record: Callable[[Line], None],
        setup: Setup,
        done: int | None,
    ) -> None:
        self.feeds = feeds
        self.timeline = timeline
        self.record = record
        self.requests_answered = 0
        self._clock = clock
        self._faults = faults
        self._options = options
        self._setup = setup
        self._done = done
        self._open: dict[str, set[asyncio.Transport]] = defaultdict(set)
        self._ticking: asyncio.Task[None] | None = None

    @property
    def published(self) -> int:
        return self._publisher.done

    def render_all(self) -> None:
        """Publish what is due and render all feeds in advance, so that clients do not wait for that."""
        now = self._clock().timestamp()
        self._publisher.publish_until(now)
        self._sites.render_all(now)

    def feed_url(self, source: int) -> str:
        """The address of a source's feed by its host name."""
        return self.addresses.feed(source)

    def local_url(self, source: int) -> str:
        """The address of the same feed where host names below localhost do not resolve."""
        return f"http://{LOOPBACK}:{self.addresses.port}/s/{source}/feed"

    async def start(self, port: int) -> None:
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None, keepalive_timeout=IDLE_TIMEOUT_SECONDS)
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, port, backlog=BACKLOG)
        await site.start()
        self.addresses = addresses = addresses_of(self.timeline, self._runner.addresses[0][1])
        if self._done is None:
            self.record(self._beginning())
        self._sites = ReplayedSites(
            self.feeds, self.timeline, addresses=addresses, options=self._options, faults=self._faults
        )
        self._publisher = Publisher(
            self.feeds, self.timeline, addresses=addresses, record=self.record, done=self._done or 0
        )
        self._ticking = asyncio.create_task(self._tick())

    async def stop(self) -> None:
        if self._ticking:
            self._ticking.cancel()
        await self._runner.cleanup()

    def _beginning(self) -> Start:
        timeline = self.timeline
        end = timeline.origin if self._options.end is None else self._options.end
        return Start(timeline.origin, end, timeline.start, timeline.speed, self.addresses.port, dict(self._setup))

    async def _tick(self) -> None:
        """Publish while there are no requests, too."""
        while True:
            self._publisher.publish_until(self._clock().timestamp())
            await asyncio.sleep(1.0)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        now = self._clock().timestamp()
        self._publisher.publish_until(now)
        if request.method not in ("GET", "HEAD"):
            response = Response(405, headers={"Allow": "GET, HEAD"})
        else:
            response = self._sites.respond(locate(request.host, request.path), request.path, request.headers, now)
        # Recorded before it is sent: every posting that reaches the client is in the record.
        self.record(self._describe(request, response, now))
        self.requests_answered += 1
        if response.pause:
            await asyncio.sleep(response.pause)
        return await _break_off(request, response) if response.broken else _respond(response)

    def _describe(self, request: web.BaseRequest, response: Response, now: float) -> Request:
        target = locate(request.host, request.path)
        headers = request.headers
        unwelcome = [name for name in ("cookie", "referer") if name in headers]
        if request.query_string:
            unwelcome.append("query")
        has_body = request.method == "GET"
        return Request(
            at=now,
            source=target.source,
            kind=target.kind,
            method=request.method,
            path=request.path[:200],
            status=response.status,
            first=response.first if has_body else 0,
            count=response.count if has_body else 0,
            whole=not response.broken,
            if_none_match=headers.get("If-None-Match"),
            if_modified_since=headers.get("If-Modified-Since"),
            agent=headers.get("User-Agent", ""),
            unwelcome=tuple(unwelcome),
            etag=response.headers.get("ETag", ""),
            modified=response.headers.get("Last-Modified", ""),
            size=len(response.body) if has_body else 0,
            connections=self._count_connections(request),
            fault=response.fault,
        )

    def _count_connections(self, request: web.BaseRequest) -> int:
        connections = self._open[request.host]
        connections.difference_update([transport for transport in connections if transport.is_closing()])
        if request.transport is not None:
            connections.add(request.transport)
        return len(connections)


@contextlib.contextmanager
def serving(
    feeds: Sequence[Feed],
    *,
    clock: Callable[[], datetime] = utc_now,
    timeline: Timeline = REAL_TIME,
    faults: Mapping[int, Fault] = NO_FAULTS,
    options: Options = DEFAULTS,
    record: Callable[[Line], None] | None = None,
    setup: Setup = NOTHING,
    port: int = 0,
    done: int | None = None,
) -> Iterator[Replay]:
    """Serve `feeds` from a thread of its own until the block ends.

    Without a timeline, recorded time is the real time of `clock`, and a test publishes postings by moving its
    clock. `record` receives every line (by default a Memory, available as `.record`), first the start with
    `setup`, unless the replay continues after `done` postings. Port 0 chooses a free port.

    Raises OSError if the port is taken.
    """
    replay = Replay(
        feeds,
        clock=clock,
        timeline=timeline,
        faults=faults,
        options=options,
        record=Memory() if record is None else record,
        setup=setup,
        done=done,
    )
    loop = uvloop.new_event_loop()
    thread = Thread(target=loop.run_forever, name="replay", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(replay.start(port), loop).result()
        yield replay
    finally:
        asyncio.run_coroutine_threadsafe(replay.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _respond(response: Response) -> web.Response:
    headers = (
        response.headers if response.status == 304 else {**response.headers, "Content-Type": response.content_type}
    )
    return web.Response(status=response.status, body=response.body or None, headers=headers)


async def _break_off(request: web.BaseRequest, response: Response) -> web.StreamResponse:
    """Announce the whole body, send a part of it, and close the connection."""
    stream = web.StreamResponse(headers={**response.headers, "Content-Type": response.content_type})
    stream.content_length = len(response.body)
    await stream.prepare(request)
    await stream.write(response.body[: int(len(response.body) * BREAK_AFTER)])
    stream.force_close()
    if request.transport is not None:
        request.transport.close()
    return stream
