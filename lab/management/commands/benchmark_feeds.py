"""How much traffic conditional requests and deltas (RFC 3229) save a reader that polls a folder for a day."""

import random
import zlib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from http.client import HTTPConnection
from threading import Thread
from typing import Any, NamedTuple
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application
from django.db import connection
from rich.progress import Progress
from rich.table import Table

from apps.accounts.models import User
from apps.following.models import Folder, Follow
from apps.postings.models import Posting
from apps.published_feeds import actions
from apps.published_feeds.formats import FORMS
from apps.published_feeds.queries.channels import Channel
from apps.sources.formats import parse
from apps.sources.models import Source
from lab.harness import LabCommand

DAY = datetime(2026, 6, 1, tzinfo=UTC)
STEP = timedelta(minutes=15)
STEPS = 96
BEFORE = 3  # days of postings that are there when the day begins
EDITED = 0.05  # of the postings, within the hours behind
SPREAD = 1.0  # of the logarithm of how much sources publish
MODES = {"plain": (False, False), "conditional": (True, False), "deltas": (True, True)}
LABELS = {"plain": "plain", "conditional": "conditional", "deltas": "deltas"}
_WORDS = 4_000
_SYLLABLES = ("ka", "ri", "on", "ter", "vel", "mo", "sti", "an", "der", "lu", "per", "in", "shan", "o", "gra", "ne")


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    sent: int  # bytes, of the request
    received: int  # bytes, of status, headers and compressed body


@dataclass(slots=True)
class Reader:
    """A program that polls every few steps, and its state."""

    mode: str
    steps: int
    tag: str = ""
    entries: dict[str, tuple[object, ...]] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    sent: int = 0
    received: int = 0

    @property
    def name(self) -> str:
        return f"{self.mode}.{self.steps * 15}_min"


class Command(LabCommand):
    help = (
        "Measure what readers receive of a folder's feed through a made-up day, by plain and conditional requests and"
        " with deltas, all compressed; each checks that what it has is what the whole feed has."
    )
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sources", type=int, default=30)
        parser.add_argument("--a-day", type=float, nargs="+", default=[3.0, 12.0], help="postings of a source, mean")
        parser.add_argument("--form", choices=list(FORMS), default="atom")

    def measure(
        self, *args: Any, sources: int, a_day: list[float], form: str, seed: int, **_: Any
    ) -> Mapping[str, float]:
        figures: dict[str, float] = {"sources": sources, "seed": seed}
        with _portal() as port, Progress(console=self.console, transient=True) as progress:
            for rate in a_day:
                task = progress.add_task(f"{rate:g} postings of each source", total=STEPS)
                world = _World(sources, rate, random.Random(seed))
                readers = [_subscribed(Reader(way, steps), port, world.path(form)) for steps in (4, 1) for way in MODES]
                for step in range(STEPS):
                    world.publish(step)
                    _poll_all(readers, step, port, world.path(form))
                    progress.advance(task)
                found = _figures(readers, world)
                figures |= {f"a_day_{rate:g}.{name}": value for name, value in found.items()}
                self.console.print(_table(readers, world, rate))
        return figures


# --- publication -----------------------------------------------------------------------------------------------------
class _World:
    """A folder of sources, some of which publish much and most little, more by day than by night."""

    def __init__(self, sources: int, rate: float, chance: random.Random) -> None:
        self._chance = chance
        self._words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(_WORDS)]
        self._number = 0
        name = f"reader{User.objects.count()}"
        user = User.objects.create(username=name)
        folder = Folder.objects.create(user=user, name="Papers")
        self._private = actions.make_address(user, "folder", folder.pk, now=DAY)
        made = [
            Source(url=f"https://{name}-{number}.example/feed", title=f"Source {number}") for number in range(sources)
        ]
        self._sources = Source.objects.bulk_create(made)
        follows = [Follow(user=user, source=source, unread_from=DAY) for source in self._sources]
        for follow in Follow.objects.bulk_create(follows):
            follow.folders.add(folder)
        worth = [chance.lognormvariate(0.0, SPREAD) for _ in self._sources]
        self._rates = [rate * sources * each / sum(worth) for each in worth]
        self._published = 0
        self._edits: list[tuple[int, int]] = []  # step and posting
        for step in range(-BEFORE * STEPS, 0):
            self.publish(step)
        self._published = 0

    @property
    def published(self) -> int:
        """Postings of the day."""
        return self._published

    def path(self, form: str) -> str:
        return Channel("private", self._private.secret).path(form)

    def publish(self, step: int) -> None:
        """Publish and edit postings of one step of the day."""
        at = DAY + step * STEP
        usual = 0.3 if at.hour < 6 else 1.5 if 7 <= at.hour < 19 else 0.85  # of the day's mean
        fresh = [
            self._posting(source, at + self._chance.random() * STEP)
            for source, rate in zip(self._sources, self._rates, strict=True)
            for _ in range(self._how_many(rate * usual / STEPS))
        ]
        for posting in Posting.objects.bulk_create(fresh):
            if self._chance.random() < EDITED:
                self._edits.append((step + self._chance.randint(1, 12), posting.pk))
        self._published += len(fresh)
        for posting_id in [posting_id for due, posting_id in self._edits if due == step]:
            Posting.objects.filter(pk=posting_id).update(title=self._random_words(8), edited_at=at)

    def _how_many(self, mean: float) -> int:
        """A number drawn from a Poisson distribution with a small mean."""
        count, waited = 0, self._chance.expovariate(1.0)
        while waited < mean:
            count, waited = count + 1, waited + self._chance.expovariate(1.0)
        return count

    def _posting(self, source: Source, at: datetime) -> Posting:
        self._number += 1
        paragraphs = [self._random_words(self._chance.randint(30, 90)) for _ in range(self._chance.randint(1, 6))]
        key = blake2b(f"{source.pk} {self._number}".encode(), digest_size=16).digest()
        return Posting(
            source=source,
            identity=key,
            link_key=key,
            content_hash=key,
            text_hash=key,
            guid=key.hex(),
            url=f"{source.url}/{self._number}/{'-'.join(self._random_words(5).split())}",
            title=self._random_words(8),
            author=self._random_words(2),
            html="".join(f"<p>{paragraph}.</p>" for paragraph in paragraphs),
            text=" ".join(paragraphs),
            language="en",
            categories=[self._random_words(1)],
            image_url="",
            comments_url="",
            enclosures=[],
            published_at=at,
            retrieved_at=at,
        )

    def _random_words(self, words: int) -> str:
        # The lower a word's number, the more frequent it is.
        numbers = (int(_WORDS ** self._chance.random()) - 1 for _ in range(words))
        return " ".join(self._words[number] for number in numbers).capitalize()


# --- readers ----------------------------------------------------------------------------------------------------------
def _subscribed(reader: Reader, port: int, path: str) -> Reader:
    """Let a reader poll once before the day begins, uncounted."""
    _poll(reader, port, path)
    reader.statuses, reader.sent, reader.received = [], 0, 0
    return reader


def _poll_all(readers: Sequence[Reader], step: int, port: int, path: str) -> None:
    whole = _read(_request(port, path, {}))
    for reader in readers:
        if step % reader.steps == 0:
            _poll(reader, port, path)
            if not whole.items() <= reader.entries.items():
                raise CommandError(f"By {reader.name} a reader has other entries than the feed, at step {step}.")


def _poll(reader: Reader, port: int, path: str) -> None:
    conditional, deltas = MODES[reader.mode]
    headers = {"If-None-Match": reader.tag} if conditional and reader.tag else {}
    if deltas:
        headers["A-IM"] = "feed"
    response = _request(port, path, headers)
    reader.sent += response.sent
    reader.received += response.received
    reader.statuses.append(response.status)
    if response.status not in {200, 226, 304}:
        raise CommandError(f"The portal answered with the status {response.status}.")
    if response.status != 304:
        reader.entries |= _read(response)
        reader.tag = response.headers["etag"]


def _request(port: int, path: str, headers: Mapping[str, str]) -> Response:
    sent_headers = {"Host": f"localhost:{port}", "User-Agent": "benchmark", "Accept-Encoding": "gzip", **headers}
    client = HTTPConnection("localhost", port, timeout=30)
    try:
        client.request("GET", path, headers=sent_headers)
        response = client.getresponse()
        body = response.read()
    finally:
        client.close()
    received = response.getheaders()
    return Response(
        response.status,
        {name.lower(): value for name, value in received},
        body,
        len(f"GET {path} HTTP/1.1\r\n\r\n") + _size(sent_headers.items()),
        len(f"HTTP/1.1 {response.status} {response.reason}\r\n\r\n") + _size(received) + len(body),
    )


def _size(headers: Any) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)


def _read(response: Response) -> dict[str, tuple[object, ...]]:
    body = response.body
    if response.headers.get("content-encoding") == "gzip":
        body = zlib.decompress(body, 31)
    parsed = parse(body, content_type=response.headers["content-type"], url="https://portal.example/")
    return {entry.guid: (entry.title, entry.content or entry.summary, entry.published) for entry in parsed.entries}


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the reader counts."""


@contextmanager
def _portal() -> Iterator[int]:
    """The site on a free port, with all middleware."""
    with make_server("localhost", 0, get_wsgi_application(), WSGIServer, _Quiet) as server:
        thread = Thread(target=_serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def _serve(server: WSGIServer) -> None:
    try:
        server.serve_forever(poll_interval=0.05)
    finally:
        connection.close()


# --- results ---------------------------------------------------------------------------------------------------------
def _figures(readers: Sequence[Reader], world: _World) -> dict[str, float]:
    figures: dict[str, float] = {"published": world.published}
    for reader in readers:
        figures[f"{reader.name}.requests"] = len(reader.statuses)
        figures[f"{reader.name}.received_bytes"] = reader.received
        figures[f"{reader.name}.sent_bytes"] = reader.sent
        figures[f"{reader.name}.saved"] = _saved(reader, readers)
    return figures


def _saved(reader: Reader, readers: Sequence[Reader]) -> float:
    """The share of bytes, both ways, saved compared with plain requests at the same rate."""
    [plain] = [other for other in readers if other.mode == "plain" and other.steps == reader.steps]
    return 1 - (reader.received + reader.sent) / (plain.received + plain.sent)


def _table(readers: Sequence[Reader], world: _World, rate: float) -> Table:
    table = Table(title=f"{world.published:,} postings in a day, {rate:g} of each source; all answers compressed")
    for column in ("reader", "every", "requests", "304", "226", "received kB", "sent kB", "saved"):
        table.add_column(column, justify="left" if column == "reader" else "right")
    for reader in readers:
        counts = [len(reader.statuses), reader.statuses.count(304), reader.statuses.count(226)]
        sizes = [f"{size / 1_000:,.1f}" for size in (reader.received, reader.sent)]
        saved = f"{_saved(reader, readers):.1%}"
        table.add_row(LABELS[reader.mode], f"{reader.steps * 15} min", *map(str, counts), *sizes, saved)
    return table
