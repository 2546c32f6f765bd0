"""Serves the made-up site on loopback and counts requests."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from lab.worlds.addresses import DOMAIN
from lab.worlds.crawled_site import CrawledSite
from lab.worlds.leases import lease


class CrawledServer:
    """A running server; made by `serving_site`."""

    def __init__(self, articles: int, *, seed: int) -> None:
        self.requests: Counter[str] = Counter()  # by path with query
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.base = f"http://site.{DOMAIN}:{self.port}"
        self.site = CrawledSite(self.base, published=articles, seed=seed)

    @property
    def url(self) -> str:
        return f"{self.base}/"

    def publish(self, count: int) -> None:
        """Publish `count` more articles."""
        self.site = replace(self.site, published=self.site.published + count)

    def take_requests(self) -> Counter[str]:
        """The requests since the last call, without robots.txt."""
        with self._lock:
            taken, self.requests = self.requests, Counter()
        taken.pop("/robots.txt", None)
        return taken

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _make_handler(server: "CrawledServer") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with server._lock:
                    server.requests[self.path] += 1
                answer = server.site.answer(self.path)
                body = answer.body.encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """Nothing: requests are counted."""

        return Handler


@contextmanager
def serving_site(articles: int, *, seed: int = 0) -> Iterator[CrawledServer]:
    """Serve a site of `articles` articles on loopback within the block, reachable by the portal."""
    server = CrawledServer(articles, seed=seed)
    thread = Thread(target=server.serve, name="made-up site", daemon=True)
    thread.start()
    try:
        with lease(f".{DOMAIN}:{server.port}"):
            yield server
    finally:
        server.stop()
        thread.join()
