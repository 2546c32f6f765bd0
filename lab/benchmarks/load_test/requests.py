"""Requests of virtual users to their own pages, one after the other or at a steady rate."""

import asyncio
import http.client
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

import aiohttp
import numpy as np
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from apps.accounts.models import User
from apps.following.models import Folder
from apps.following.queries import Scope, listing
from lab.harness import Process, command, cpu_seconds_of_family, running

CSRF = "x" * 32
PAGES = ("river", "folder", "feed", "article", "mark")
SHARES = (35, 15, 20, 25, 5)  # of a hundred requests


@dataclass(frozen=True, slots=True)
class VirtualUser:
    """A signed-in user and the addresses of their pages."""

    user_id: int
    session: str
    addresses: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageRequest:
    user: VirtualUser
    page: str
    address: str

    @property
    def headers(self) -> dict[str, str]:
        cookies = f"{settings.SESSION_COOKIE_NAME}={self.user.session}; {settings.CSRF_COOKIE_NAME}={CSRF}"
        headers = {"Cookie": cookies, "Accept-Encoding": "gzip"}
        if self.page == "mark":
            headers |= {
                "X-CSRFToken": CSRF,
                "HX-Request": "true",
                "Content-Type": "application/x-www-form-urlencoded",
            }
        return headers

    @property
    def body(self) -> bytes | None:
        return b"read=yes" if self.page == "mark" else None


# --- users ------------------------------------------------------------------------------------------------------------
def sign_in(user_ids: Sequence[int], chance: random.Random) -> list[VirtualUser]:
    """Create sessions for users, and choose their pages."""
    users, sessions = [], []
    expires = now() + timedelta(days=1)
    for user in User.objects.filter(pk__in=user_ids).order_by("pk"):
        store = SessionStore()
        values = {
            SESSION_KEY: str(user.pk),
            BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
            HASH_SESSION_KEY: user.get_session_auth_hash(),
        }
        key = f"{user.pk:08d}".rjust(32, "b")
        sessions.append(Session(session_key=key, session_data=store.encode(values), expire_date=expires))
        users.append(VirtualUser(user.pk, key, _addresses(user, chance)))
    Session.objects.bulk_create(sessions, ignore_conflicts=True)
    return users


def _addresses(user: User, chance: random.Random) -> dict[str, list[str]]:
    """The list of all articles whole, unread and far down, and the pages that it links to."""
    ids = [place.id for place in listing.positions(user, Scope("all"), limit=40)]
    folders = list(Folder.objects.filter(user=user).values_list("pk", flat=True))
    sources = list(user.follows.values_list("source_id", flat=True))
    river = reverse("river")
    start = now() - timedelta(days=chance.uniform(3, 60))
    return {
        "river": [
            river,
            f"{river}?show=unread",
            f"{river}?show=unread",
            f"{river}?start={int(start.timestamp())}000000.1",
        ],
        "unread": [f"{river}?show=unread"],
        "folder": [
            reverse("river_folder", args=[folder]) + shown for folder in folders for shown in ("", "?show=unread")
        ],
        "feed": [
            reverse("river_source", args=[source]) + shown
            for source in chance.sample(sources, min(8, len(sources)))
            for shown in ("", "?show=unread")
        ],
        "article": [reverse("posting", args=[posting]) for posting in ids[:20]],
        "mark": [reverse("mark", args=[posting]) for posting in ids[20:]],
    }


def draw_requests(users: Sequence[VirtualUser], count: int, chance: random.Random, page: str = "") -> list[PageRequest]:
    """Random requests of random users: of one kind of page, or mixed by `SHARES`."""
    requests: list[PageRequest] = []
    while len(requests) < count:
        user = chance.choice(users)
        kind = page or chance.choices(PAGES, SHARES)[0]
        if addresses := user.addresses[kind]:
            requests.append(PageRequest(user, kind, chance.choice(addresses)))
    return requests


def count_queries(requests: Sequence[PageRequest]) -> list[int]:
    """The number of database queries of each request, served in this process."""
    counts = []
    for request in requests:
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = request.user.session
        with CaptureQueriesContext(connection) as captured:
            response = client.get(request.address, headers={"host": "localhost"})
        assert response.status_code == 200, f"{request.address}: {response.status_code}"
        counts.append(len(captured))
    return counts


# --- the portal -------------------------------------------------------------------------------------------------------
@contextmanager
def portal() -> Iterator[tuple[str, Process]]:
    """The web server as it is deployed; yields its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = command("web", "--bind", f"127.0.0.1:{port}")
    with running({"web": web}, WIREBEAT_LOG_LEVEL="ERROR") as started:
        _wait(started["web"], port)
        yield f"http://127.0.0.1:{port}", started["web"]


def _wait(process: Process, port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("The web server ended.")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("The web server did not start within a minute.")


def send_sequentially(address: str, requests: Sequence[PageRequest]) -> list[float]:
    """Seconds from each request until its whole response, without concurrent requests."""
    host = urlsplit(address).netloc
    seconds = []
    for request in requests:
        client = http.client.HTTPConnection(host, timeout=60)
        client.connect()
        begin = time.perf_counter()
        client.request("POST" if request.page == "mark" else "GET", request.address, request.body, request.headers)
        response = client.getresponse()
        response.read()
        seconds.append(time.perf_counter() - begin)
        client.close()
        if response.status != 200:
            raise RuntimeError(f"{request.address} was answered with {response.status}.")
    return seconds


def measure(name: str, address: str, requests: Sequence[PageRequest], servers: Sequence[int]) -> dict[str, float]:
    """Send requests sequentially: their times, and the CPU that the servers used for each."""
    before = sum(map(cpu_seconds_of_family, servers))
    figures = percentiles(name, send_sequentially(address, requests))
    used = sum(map(cpu_seconds_of_family, servers)) - before
    return figures | {f"{name}.cpu_ms": 1_000 * used / len(requests)}


def percentiles(name: str, seconds: Sequence[float]) -> dict[str, float]:
    values = np.percentile(np.array(seconds) * 1_000, [50, 95, 99]).tolist()
    return {f"{name}.{part}_ms": value for part, value in zip(("p50", "p95", "p99"), values, strict=True)}


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The result of requests at a steady rate."""

    seconds: list[float]  # from the due time of each until its whole response, including queueing
    failures: int
    rate: float  # responses a second, from the first request until the last response


def send_at_rate(
    address: str, requests: Sequence[PageRequest], rate: float, *, done: Callable[[], object]
) -> LoadResult:
    """Send requests at a steady rate, without waiting for earlier responses."""
    return asyncio.run(_send_at_rate(address, requests, rate, done))


async def _send_at_rate(
    address: str, requests: Sequence[PageRequest], rate: float, done: Callable[[], object]
) -> LoadResult:
    seconds: list[float] = []
    failures = 0
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        begin = time.perf_counter()

        async def send(request: PageRequest, due: float) -> None:
            nonlocal failures
            method = "POST" if request.page == "mark" else "GET"
            try:
                async with session.request(
                    method, address + request.address, data=request.body, headers=request.headers, allow_redirects=False
                ) as response:
                    await response.read()
                    failures += response.status != 200
            except aiohttp.ClientError:
                failures += 1
            seconds.append(time.perf_counter() - due)
            done()

        tasks = []
        for number, request in enumerate(requests):
            due = begin + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(send(request, due)))
        await asyncio.gather(*tasks)
        took = time.perf_counter() - begin
    return LoadResult(seconds, failures, len(requests) / took)
