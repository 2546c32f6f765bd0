"""A small publisher and hub on the loopback interface with configurable responses, which records its requests."""

import hmac
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

HOST = "hub.push.localhost"
CERTIFICATE = Path(__file__).with_name("hub.pem")  # of the host alone, signed by itself, with its key
CHALLENGE = "a challenge"


@dataclass(frozen=True)
class Answer:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass
class Hub:
    """Serves `pages` to GET, answers POST by `answers` (202 elsewhere) and keeps the posted forms."""

    port: int
    scheme: str = "http"
    pages: dict[str, Answer] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    forms: list[tuple[str, dict[str, str]]] = field(default_factory=list)  # paths and forms
    requested: list[str] = field(default_factory=list)  # paths of GET

    def url(self, path: str) -> str:
        return f"{self.scheme}://{HOST}:{self.port}{path}"

    def put(self, path: str, body: str = "", *, status: int = 200, **headers: str) -> str:
        """Publish a page, in which {hub}, {other} and {topic} stand for our addresses; returns its address."""
        named = {name.replace("_", "-"): self._filled(value) for name, value in headers.items()}
        self.pages[path] = Answer(status, named, self._filled(body).encode())
        return self.url(path)

    def _filled(self, text: str) -> str:
        for name in ("hub", "other", "topic", "elsewhere"):
            text = text.replace(f"{{{name}}}", self.url(f"/{name}"))
        return text

    @property
    def form(self) -> dict[str, str]:
        """The form of the latest request."""
        return self.forms[-1][1]

    @property
    def secret(self) -> str:
        """The secret of the latest request."""
        return self.form.get("hub.secret", "")

    def verify(self, client: Client, *, form: Mapping[str, str] | None = None, **changed: str):
        """Verify the latest request at its callback, as hubs do."""
        form = form or self.form
        query = {
            "hub.mode": form["hub.mode"],
            "hub.topic": form["hub.topic"],
            "hub.challenge": CHALLENGE,
            "hub.lease_seconds": form.get("hub.lease_seconds", ""),
        }
        query |= {f"hub.{name}": value for name, value in changed.items()}
        return client.get(f"{urlsplit(form['hub.callback']).path}?{urlencode(query)}")

    def deliver(self, client: Client, body: bytes, *, secret: str = "", method: str = "sha256", **headers: str):
        """Send content to the callback of the latest request, signed if there is a secret."""
        if secret:
            headers["X-Hub-Signature"] = signature(body, secret, method)
        headers.setdefault("Content-Type", "application/rss+xml")
        kind = headers.pop("Content-Type")
        path = urlsplit(self.form["hub.callback"]).path
        return client.post(path, body, content_type=kind, headers=headers)


def signature(body: bytes, secret: str, method: str = "sha256") -> str:
    return f"{method}={hmac.new(secret.encode(), body, method).hexdigest()}"


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self.hub.requested.append(self.path)
        self._respond(self.hub.pages.get(self.path, Answer(404)))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        self.hub.forms.append((self.path, dict(parse_qsl(body, keep_blank_values=True))))
        self._respond(self.hub.answers.get(self.path, Answer(202)))

    def _respond(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(*, safely: bool = False) -> Iterator[Hub]:
    """A hub, over TLS if it is to serve safely."""
    handler = type("Handler", (_Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.hub = Hub(server.server_address[1], "https" if safely else "http")
        if safely:
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(CERTIFICATE)
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield handler.hub
        finally:
            server.shutdown()
            thread.join()
