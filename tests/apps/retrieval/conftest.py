"""A publisher that says exactly the bytes a test gives it, and keeps the requests exactly as they came."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.retrieval.http.fetching import Fetched, Fetcher, FetchRequest
from apps.retrieval.worker.engine import Engine
from tests.apps.retrieval.rehearsing import rehearsing_once

Script = Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Publisher:
    """Answers the path `/name` with what `answers["name"]` holds: bytes, or a script that writes them."""

    def __init__(self, answers: Mapping[str, bytes | Script]) -> None:
        self.answers = dict(answers)
        self.requests: list[bytes] = []  # heads, without the empty line
        self.times: list[tuple[float, float]] = []  # beginning and end of each connection, in seconds
        self.max_open = 0
        self.port = 0
        self._open = 0

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator["Publisher"]:
        async with await asyncio.start_server(self._answer, host, 0, ssl=tls) as server:
            self.port = server.sockets[0].getsockname()[1]
            yield self

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/{path}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = asyncio.get_running_loop().time()
        self._open += 1
        self.max_open = max(self.max_open, self._open)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
            self.requests.append(head)
            answer = self.answers[head.split(b" ")[1].decode().lstrip("/").partition("?")[0]]
            if isinstance(answer, bytes):
                writer.write(answer.replace(b"{port}", str(self.port).encode()))
                await writer.drain()
            else:
                await answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left, as many tests intend
        finally:
            self._open -= 1
            self.times.append((began, asyncio.get_running_loop().time()))
            writer.close()


@pytest.fixture
def publisher() -> type[Publisher]:
    return Publisher


@pytest.fixture
def fetcher() -> Callable[..., Fetcher]:
    """Make a fetcher that may connect to this machine, without gaps between requests by default."""

    def make(**options: Any) -> Fetcher:
        defaults: dict[str, Any] = {
            "version": "1.2",
            "about": "https://news.example/about",
            "open_hosts": ("127.0.0.1", "::1", ".localhost"),
            "clock": lambda: NOON,
            "host_gap": 0.0,
        }
        return Fetcher(**(defaults | options))

    return make


@pytest.fixture
def fetch_paths(fetcher: Callable[..., Fetcher]) -> Callable[..., tuple[list[Fetched], Publisher]]:
    """Fetch paths of a publisher, or whole requests made of them, one after another."""

    def run(
        answers: Mapping[str, bytes | Script],
        paths: str | Sequence[str],
        *,
        request: Callable[[str], FetchRequest] = FetchRequest,
        host: str = "127.0.0.1",
        **options: Any,
    ) -> tuple[list[Fetched], Publisher]:
        async def scenario() -> tuple[list[Fetched], Publisher]:
            async with Publisher(answers).serving() as publisher, fetcher(**options) as client:
                each = [paths] if isinstance(paths, str) else paths
                return [await client.fetch(request(publisher.url(path, host))) for path in each], publisher

        return asyncio.run(scenario())

    return run


@pytest.fixture
def engine(settings: Any) -> Iterator[Engine]:
    """A worker's engine that may connect to this machine, without gaps between requests."""
    settings.RETRIEVAL_HOST_GAP = 0
    worker = Engine()
    yield worker
    worker.stop()


@pytest.fixture
def rehearses_once() -> Iterator[None]:
    with rehearsing_once():
        yield
