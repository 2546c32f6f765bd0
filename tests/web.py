"""A web server on loopback that serves the pages of a test and records requests."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from django.core.cache import cache

from apps.retrieval.http import guard
from lab.worlds.feed import Feed
from lab.worlds.leases import lease
from lab.worlds.server import Replay, serving

HTML, RSS = "text/html; charset=utf-8", "application/rss+xml"


class Web:
    """Pages by their paths: the content type and the bytes of each; what is missing is not found."""

    def __init__(self, pages: Mapping[str, tuple[str, bytes]]) -> None:
        self.pages = dict(pages)
        self.requested_paths: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True

    def url(self, path: str) -> str:
        return f"http://site.replay.localhost:{self.port}{path}"

    @property
    def port(self) -> int:
        return self._server.server_port

    def start(self) -> None:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _make_handler(web: "Web") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.requested_paths.append(self.path)
                kind, body = web.pages.get(self.path, (HTML, b""))
                self.send_response(200 if self.path in web.pages else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """Keep the log quiet; requests are recorded."""

        return Handler


@contextmanager
def serving_pages(pages: Mapping[str, tuple[str, bytes]] | None = None) -> Iterator[Web]:
    web = Web(pages or {})
    web.start()
    try:
        with lease(f".replay.localhost:{web.port}"):
            yield web
    finally:
        web.stop()


@contextmanager
def replaying(feeds: Sequence[Feed], **options: Any) -> Iterator[Replay]:
    """Serve feeds that the portal may reach."""
    with serving(feeds, **options) as replay, lease(replay.addresses.open_host):
        yield replay


def clear_cache() -> None:
    """Clear the cache except for leases of servers, which are renewed only every few seconds."""
    leases = cache.get_many([guard.lease_key(port) for port in guard._seen])
    cache.clear()
    cache.set_many(leases, timeout=guard.LEASE_SECONDS)
