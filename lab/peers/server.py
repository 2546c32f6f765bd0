"""The feeds' server of a comparison, in a process of its own; it knows what every peer should have stored."""

import asyncio
import gzip
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import uvloop
from aiohttp import web

from lab.peers.sites import WINDOW, Fault, Key, PeerAddresses, Site, make_sites, place_of, show
from lab.worlds.conditions import http_date
from lab.worlds.server import BACKLOG, IDLE_TIMEOUT_SECONDS, LOOPBACK

RUN = "1"  # of the addresses; every comparison has empty readers
ELSEWHERE = "/feed/elsewhere"
STARTING_TIMEOUT = 120.0  # s

_spawned = multiprocessing.get_context("spawn")  # forked, it would share this process' connections to the database


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """A request for a feed."""

    number: int
    conditional: bool
    status: int


class FeedServer:
    """The running process; made by `serving`."""

    def __init__(self, connection: Connection, sites: Sequence[Site], port: int) -> None:
        self.sites = sites
        self.port = port
        self._connection = connection
        self._counts = Counter[str]()  # postings that each feed has published for a peer, beyond the first window

    def addresses(self, peer: str) -> PeerAddresses:
        return PeerAddresses(self.port, RUN, peer)

    def publish(self, peer: str, postings: int) -> None:
        """Publish so many more postings in every feed, for this peer alone."""
        self._counts[peer] += postings
        self._call("publish", peer, WINDOW + self._counts[peer])

    def take_requests(self, peer: str) -> list[FeedRequest]:
        """The requests for feeds since the last call."""
        taken: list[FeedRequest] = self._call("take_requests", peer)
        return taken

    def truth(self, peer: str) -> dict[Key, str]:
        """The title of every posting that was shown to the peer."""
        count = WINDOW + self._counts[peer]
        return {
            (site.number, posting): site.feed.texts[posting].title for site in self.sites for posting in range(count)
        }

    def _call(self, name: str, *arguments: object) -> Any:
        self._connection.send((name, *arguments))
        return self._connection.recv()


@contextmanager
def serving(feeds: int, *, seed: int, changes: int, faulty: int | None = None) -> Iterator[FeedServer]:
    """Serve feeds that can publish up to `changes` more postings each.

    Raises
    ------
    EOFError
        If the server cannot start.
    """
    begin = time.time() // 3_600 * 3_600 - 2 * 86_400
    make = partial(make_sites, feeds, seed=seed, begin=begin, postings=WINDOW + changes, faulty=faulty)
    ours, theirs = _spawned.Pipe()
    process = _spawned.Process(target=_serve, args=(theirs, make), name="feeds", daemon=True)
    process.start()
    theirs.close()
    try:
        sites = make()
        yield FeedServer(ours, sites, ours.recv())
    finally:
        ours.close()
        process.join(timeout=STARTING_TIMEOUT)
        process.kill()


@dataclass(slots=True)
class _Feeds:
    """What the server shows, and its requests."""

    sites: Mapping[int, Site]
    port: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # postings by peer
    requests: dict[str, list[FeedRequest]] = field(default_factory=dict)
    fetches: Counter[int] = field(default_factory=Counter)
    began: float = field(default_factory=lambda: time.time() - 86_400)
    shown: dict[tuple[str, int], tuple[int, bytes]] = field(default_factory=dict)  # the latest body of each feed

    def execute(self, name: str, peer: str, count: int = 0) -> object:
        if name == "take_requests":
            return self.requests.pop(peer, [])
        self.counts[peer] = count
        return None

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        place = place_of(request.host)
        site = self.sites.get(place[0]) if place else None
        if place is None or site is None:
            return web.Response(status=404)
        if request.path == "/":
            text = f"<title>{site.feed.title}</title><link rel=alternate type=application/rss+xml href=/feed>"
            return web.Response(text=text, content_type="text/html")
        if request.path not in {"/feed", ELSEWHERE}:
            return web.Response(status=404)
        response = self._show(request, site, place[1])
        if response.status != 302:
            conditional = bool({"If-None-Match", "If-Modified-Since"} & set(request.headers))
            self.requests.setdefault(place[1], []).append(FeedRequest(site.number, conditional, response.status))
        return response

    def _show(self, request: web.BaseRequest, site: Site, peer: str) -> web.Response:
        if site.fault is Fault.REDIRECT and request.path != ELSEWHERE:
            return web.Response(status=302, headers={"Location": ELSEWHERE})
        count = self.counts.get(peer, WINDOW)
        headers = {}
        if site.fault not in {Fault.NO_VALIDATORS, Fault.CHANGING_GUIDS}:
            # Dates have whole seconds, and libcurl drops what is not newer: rounds may be shorter than that.
            modified = self.began + 60 * (count - WINDOW)
            headers = {"ETag": f'"{RUN}-{count}"', "Last-Modified": http_date(modified)}
            held = request.headers.get("If-None-Match", "").removeprefix("W/")
            dated = request.headers.get("If-Modified-Since")
            if held == headers["ETag"] or (not held and dated == headers["Last-Modified"]):
                return web.Response(status=304, headers=headers)
        body = self._body(site, peer, count)
        if site.fault is Fault.GZIP:
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, mtime=0)
        return web.Response(body=body, headers=headers | {"Content-Type": "application/xml"})

    def _body(self, site: Site, peer: str, count: int) -> bytes:
        kept = self.shown.get((peer, site.number))
        if kept and kept[0] == count and site.fault is not Fault.CHANGING_GUIDS:
            return kept[1]
        self.fetches[site.number] += 1
        body = show(site, count, PeerAddresses(self.port, RUN, peer), self.fetches[site.number])
        self.shown[peer, site.number] = count, body
        return body


def _serve(connection: Connection, make: partial[list[Site]]) -> None:
    """Serve until the other end of the pipe is closed."""
    feeds = _Feeds({site.number: site for site in make()})
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_answer_until_closed(feeds, connection))


async def _answer_until_closed(feeds: _Feeds, connection: Connection) -> None:
    runner = web.ServerRunner(web.Server(feeds.answer, access_log=None, keepalive_timeout=IDLE_TIMEOUT_SECONDS))
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, 0, backlog=BACKLOG).start()
    feeds.port = runner.addresses[0][1]
    connection.send(feeds.port)
    with suppress(EOFError):
        while True:
            name, *arguments = await asyncio.to_thread(connection.recv)
            connection.send(feeds.execute(name, *arguments))
    await runner.cleanup()
