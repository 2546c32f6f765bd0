"""People who read: signed in, each at pages of their own, one after the other or many at once."""

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
from lab.harness import Process, command, running

CSRF = "x" * 32
PAGES = ("river", "folder", "feed", "article", "mark")
SHARES = (35, 15, 20, 25, 5)  # of a hundred requests


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is signed in, and where they may go."""

    user_id: int
    session: str
    addresses: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Visit:
    person: Person
    page: str
    address: str

    @property
    def headers(self) -> dict[str, str]:
        cookies = f"{settings.SESSION_COOKIE_NAME}={self.person.session}; {settings.CSRF_COOKIE_NAME}={CSRF}"
        wanted = {"Cookie": cookies, "Accept-Encoding": "gzip"}
        if self.page == "mark":
            wanted |= {
                "X-CSRFToken": CSRF,
                "HX-Request": "true",
                "Content-Type": "application/x-www-form-urlencoded",
            }
        return wanted

    @property
    def body(self) -> bytes | None:
        return b"read=yes" if self.page == "mark" else None


# --- who comes --------------------------------------------------------------------------------------------------------
def sign_in(user_ids: Sequence[int], chance: random.Random) -> list[Person]:
    """Sessions for people, and pages of each that they may look at."""
    people, sessions = [], []
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
        people.append(Person(user.pk, key, _addresses(user, chance)))
    Session.objects.bulk_create(sessions, ignore_conflicts=True)
    return people


def _addresses(user: User, chance: random.Random) -> dict[str, list[str]]:
    """The river is looked at whole and unread, and now and then far down; the rest is what it shows."""
    ids = listing.listed(user, Scope("all"), unread_only=False, oldest_first=False, start=None, limit=40)
    folders = list(Folder.objects.filter(user=user).values_list("pk", flat=True))
    sources = list(user.follows.values_list("source_id", flat=True))
    river = reverse("river")
    deep = now() - timedelta(days=chance.uniform(3, 60))
    return {
        "river": [
            river,
            f"{river}?show=unread",
            f"{river}?show=unread",
            f"{river}?start={int(deep.timestamp())}000000.1",
        ],
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


def draw_visits(people: Sequence[Person], count: int, chance: random.Random, page: str = "") -> list[Visit]:
    """Of random people to random pages of theirs; of one kind, or as people mix them."""
    visits: list[Visit] = []
    while len(visits) < count:
        person = chance.choice(people)
        kind = page or chance.choices(PAGES, SHARES)[0]
        if addresses := person.addresses[kind]:
            visits.append(Visit(person, kind, chance.choice(addresses)))
    return visits


def count_queries(visits: Sequence[Visit]) -> list[int]:
    """How many queries each takes, asked within this process."""
    counts = []
    for visit in visits:
        client = Client()
        client.cookies[settings.SESSION_COOKIE_NAME] = visit.person.session
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(visit.address, headers={"host": "localhost"})
        assert answer.status_code == 200, f"{visit.address}: {answer.status_code}"
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


def one_by_one(address: str, visits: Sequence[Visit]) -> list[float]:
    """Seconds from each request until its whole answer, with nobody else there."""
    host = urlsplit(address).netloc
    seconds = []
    for visit in visits:
        line = http.client.HTTPConnection(host, timeout=60)
        line.connect()
        begin = time.perf_counter()
        line.request("POST" if visit.page == "mark" else "GET", visit.address, visit.body, visit.headers)
        answer = line.getresponse()
        answer.read()
        seconds.append(time.perf_counter() - begin)
        line.close()
        if answer.status != 200:
            raise RuntimeError(f"{visit.address} was answered with {answer.status}.")
    return seconds


@dataclass(frozen=True, slots=True)
class Rush:
    """What came of many requests at their times."""

    seconds: list[float]  # from when each was due until its whole answer, waiting for others included
    failures: int
    rate: float  # answers a second, from the first request until the last answer


def rush(address: str, visits: Sequence[Visit], rate: float, *, done: Callable[[], object]) -> Rush:
    """Send requests at a steady rate, whether earlier ones were answered or not."""
    return asyncio.run(_rush(address, visits, rate, done))


async def _rush(address: str, visits: Sequence[Visit], rate: float, done: Callable[[], object]) -> Rush:
    seconds: list[float] = []
    failures = 0
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        begin = time.perf_counter()

        async def send(visit: Visit, due: float) -> None:
            nonlocal failures
            method = "POST" if visit.page == "mark" else "GET"
            try:
                async with session.request(
                    method, address + visit.address, data=visit.body, headers=visit.headers, allow_redirects=False
                ) as answer:
                    await answer.read()
                    failures += answer.status != 200
            except aiohttp.ClientError:
                failures += 1
            seconds.append(time.perf_counter() - due)
            done()

        tasks = []
        for number, visit in enumerate(visits):
            due = begin + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(send(visit, due)))
        await asyncio.gather(*tasks)
        took = time.perf_counter() - begin
    return Rush(seconds, failures, len(visits) / took)
