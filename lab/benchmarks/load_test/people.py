"""Virtual users who read, mark, search, and whose programs synchronize, at a steady rate that waits for no answer."""

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import aiohttp
from django.utils.timezone import now

from apps.accounts.actions import make_token
from apps.accounts.algorithms.secrets import fever_key_of
from apps.accounts.models import User
from lab.benchmarks.load_test.population import SOUGHT
from lab.benchmarks.load_test.requests import PageRequest, VirtualUser, draw_requests

SEARCHED = 0.05  # of the page views
DIALECTS = ("google_reader", "miniflux", "fever")
SYNC_SECONDS = 300.0  # between two synchronizations of a program
SYNCED = 0.3  # of the active people have a program
TIMEOUT = aiohttp.ClientTimeout(total=60.0)


@dataclass(frozen=True, slots=True)
class ProgramRequest(PageRequest):
    """A request of a program, with its token."""

    token: tuple[tuple[str, str], ...] = ()
    form: bytes | None = None

    @property
    def headers(self) -> dict[str, str]:
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if self.form else {}
        return dict(self.token) | kind | {"Accept-Encoding": "gzip"}

    @property
    def body(self) -> bytes | None:
        return self.form


@dataclass(frozen=True, slots=True)
class Program:
    """A reader of another vendor, signed in by an app token."""

    user: VirtualUser
    dialect: str
    secret: str
    fever_key: str

    def sync(self) -> list[PageRequest]:
        """The requests of one synchronization: feeds, what is unread, and the newest articles."""
        match self.dialect:
            case "google_reader":
                items = "stream/items/ids?s=user/-/state/com.google/reading-list&n=100"
                paths = [
                    "/reader/api/0/subscription/list?output=json",
                    f"/reader/api/0/{items}&xt=user/-/state/com.google/read&output=json",
                    "/reader/api/0/stream/contents/user/-/state/com.google/reading-list?n=20&output=json",
                ]
                token = ("Authorization", f"GoogleLogin auth={self.secret}")
            case "miniflux":
                paths = ["/v1/feeds", "/v1/entries?status=unread&limit=100", "/v1/feeds/counters"]
                token = ("X-Auth-Token", self.secret)
            case _:
                form = f"api_key={self.fever_key}".encode()
                return [
                    ProgramRequest(self.user, "sync", f"/fever/?api&{part}", form=form)
                    for part in ("feeds", "unread_item_ids", "items")
                ]
        return [ProgramRequest(self.user, "sync", path, (token,)) for path in paths]


def programs(users: Sequence[VirtualUser]) -> list[Program]:
    """A program for a part of the users, in three dialects by turns."""
    chosen = users[: round(len(users) * SYNCED)]
    accounts = User.objects.in_bulk([user.user_id for user in chosen])
    made = []
    for number, user in enumerate(chosen):
        account = accounts[user.user_id]
        _, secret = make_token(account, "load test", ["read"], now=now(), for_fever=True)
        dialect = DIALECTS[number % len(DIALECTS)]
        made.append(Program(user, dialect, secret, fever_key_of(account.get_username(), secret)))
    return made


def views(users: Sequence[VirtualUser], chance: random.Random) -> Iterator[PageRequest]:
    """Page views without end: lists, articles, marks and searches."""
    while True:
        if chance.random() < SEARCHED:
            words = "+".join(chance.sample(SOUGHT, chance.choice((1, 1, 2))))
            yield PageRequest(chance.choice(users), "search", f"/search/?q={words}")
        else:
            yield from draw_requests(users, 1, chance)


@dataclass(slots=True)
class Answers:
    """What came of the requests, by kind."""

    seconds: dict[str, list[float]] = field(default_factory=dict)  # from when each was due until its whole answer
    errors: list[str] = field(default_factory=list)

    def of(self, *, syncs: bool) -> list[float]:
        return [each for kind, found in self.seconds.items() if (kind == "sync") == syncs for each in found]


async def load(
    address: str,
    users: Sequence[VirtualUser],
    synced: Sequence[Program],
    *,
    seconds: float,
    rate: float,
    chance: random.Random,
    watch: Callable[[], object],
) -> Answers:
    """Send page views at `rate` a second for some time, and synchronize programs; `watch` is called each second."""
    answers, connector = Answers(), aiohttp.TCPConnector(limit=0)
    sending: set[asyncio.Task[None]] = set()
    due = sorted(_schedule(users, synced, seconds, rate, chance), key=lambda each: each[0])
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), timeout=TIMEOUT
    ) as session:
        begin = time.perf_counter()
        watched = asyncio.create_task(_each_second(watch))
        for at, request in due:
            await asyncio.sleep(max(0.0, begin + at - time.perf_counter()))
            task = asyncio.create_task(_send(session, address, request, begin + at, answers))
            sending.add(task)
            task.add_done_callback(sending.discard)
        await asyncio.gather(*sending)
        watched.cancel()
    return answers


def _schedule(
    users: Sequence[VirtualUser], synced: Sequence[Program], seconds: float, rate: float, chance: random.Random
) -> Iterator[tuple[float, PageRequest]]:
    for number, request in enumerate(islice(views(users, chance), int(rate * seconds))):
        yield (number + chance.random()) / rate, request
    for program in synced:
        at = chance.uniform(0.0, min(SYNC_SECONDS, seconds))
        while at < seconds:
            for step, request in enumerate(program.sync()):
                yield at + step * 0.2, request
            at += SYNC_SECONDS


async def _each_second(watch: Callable[[], object]) -> None:
    while True:
        watch()
        await asyncio.sleep(1.0)


async def _send(
    session: aiohttp.ClientSession, address: str, request: PageRequest, due: float, answers: Answers
) -> None:
    method = "GET" if request.body is None else "POST"
    try:
        async with session.request(
            method, address + request.address, data=request.body, headers=request.headers, allow_redirects=False
        ) as response:
            await response.read()
            if response.status not in (200, 204):
                answers.errors.append(f"{response.status} {request.address}")
    except (aiohttp.ClientError, TimeoutError) as error:
        answers.errors.append(f"{type(error).__name__} {request.address}")
    answers.seconds.setdefault(request.page, []).append(time.perf_counter() - due)
