"""A publisher of recordings on loopback."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Publisher(ThreadingHTTPServer):
    """Sends requested ranges, or does not support them."""

    def __init__(self, files: dict[str, tuple[str, bytes]]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = files  # type and bytes by their paths
        self.knows_ranges = True
        self.wrong_range = False
        self.headers: list[dict[str, str]] = []

    def address(self, path: str, host: str = "media.localhost") -> str:
        return f"http://{host}:{self.server_port}{path}"


class Answer(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.path == "/moved.mp3":
            self.send_response(302)
            self.send_header("Location", self.server.address("/1.mp3", "127.0.0.1"))
            self.end_headers()
            return
        media_type, body = self.server.files.get(self.path, ("text/html", b"<script>publisher</script>"))
        status, requested = 200 if self.path in self.server.files else 404, self.headers.get("Range")
        headers = {"Content-Type": media_type, "Set-Cookie": "publisher=1"}
        if requested and self.server.knows_ranges and status == 200:
            first, last, suffix = re.fullmatch(r"bytes=(?:(\d+)-(\d*)|-(\d+))", requested).groups()
            begin = len(body) - int(suffix) if suffix else int(first)
            if begin >= len(body):
                status, headers["Content-Range"], body = 416, f"bytes */{len(body)}", b""
            else:
                end = min(int(last) if last else len(body) - 1, len(body) - 1)
                total = len(body)
                status, body = 206, body[begin : end + 1]
                headers["Content-Range"] = f"bytes {begin}-{end + self.server.wrong_range}/{total}"
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # the client has disconnected
            self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@contextmanager
def publishing(files: dict[str, tuple[str, bytes]]) -> Iterator[Publisher]:
    with Publisher(files) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
