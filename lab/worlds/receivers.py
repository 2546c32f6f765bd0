"""Recipients of notifications, on loopback: a web server, a mail server, a browser."""

import base64
import importlib
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.management.base import CommandError

from apps.accounts.models import User
from apps.alerts.actions.rules import add_browser
from apps.alerts.models import Browser

DOMAIN = "alerts.localhost"
SECRET = b"sixteen bytes..."


# --- a web server -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Call:
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    method: str = "POST"

    @property
    def id(self) -> str:
        """The idempotency key of the call."""
        return self.headers.get("webhook-id") or self.headers["topic"]

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.body)
        return message


@dataclass
class Receiver:
    """Keeps accepted calls. `behave` is called with each and returns a status, or None to close the connection."""

    port: int
    host: str = f"hooks.{DOMAIN}"
    behave: Callable[[Call], int | None] = lambda _: 200
    headers: dict[str, str] = field(default_factory=dict)  # of its answers
    body: bytes = b"ok"  # of its answers
    calls: list[Call] = field(default_factory=list)  # all
    taken: list[Call] = field(default_factory=list)  # those that were accepted

    @property
    def open_host(self) -> str:
        """The setting that permits connections to it."""
        return f".{DOMAIN}:{self.port}"

    def url(self, path: str = "/hook") -> str:
        return f"http://{self.host}:{self.port}{path}"


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        call = Call(self.path, {name.lower(): value for name, value in self.headers.items()}, body, self.command)
        self.receiver.calls.append(call)
        status = self.receiver.behave(call)
        if status is None:
            self.close_connection = True
            return
        if 200 <= status < 300:
            self.receiver.taken.append(call)
        self.send_response(status)
        for name, value in self.receiver.headers.items():
            self.send_header(name, value)
        body = b"" if status == 204 else self.receiver.body
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Ignore clients that have been killed."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(_Handler):
        pass

    with _Server(("127.0.0.1", 0), Handler) as server:
        Handler.receiver = Receiver(server.server_address[1])
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield Handler.receiver
        finally:
            server.shutdown()
            thread.join()


# --- a mail server ----------------------------------------------------------------------------------------------------
@dataclass
class MailServer:
    """Keeps accepted mails. `behave` is called with each and returns the SMTP response."""

    port: int
    behave: Callable[[EmailMessage], str] = lambda _: "250 OK"
    taken: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        answer = self.behave(mail)
        if answer.startswith("250"):
            self.taken.append(mail)
        return answer


@contextmanager
def mailing() -> Iterator[MailServer]:
    try:
        controllers = importlib.import_module("aiosmtpd.controller")
    except ImportError as error:
        raise CommandError("aiosmtpd, the mail server, is not installed: `manage.py test` installs it.") from error
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = MailServer(port)
    controller = controllers.Controller(server, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


# --- a browser --------------------------------------------------------------------------------------------------------
@dataclass
class ABrowser:
    """The private key of a browser, and its row in the portal."""

    key: ec.EllipticCurvePrivateKey
    row: Browser

    def read(self, body: bytes) -> dict[str, Any]:
        text = http_ece.decrypt(body, private_key=self.key, auth_secret=SECRET, version="aes128gcm")
        message: dict[str, Any] = json.loads(text)
        return message


def a_browser(user: User, endpoint: str, *, now: datetime, name: str = "") -> ABrowser:
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    public_key, secret = base64url(point), base64url(SECRET)
    row = add_browser(user, endpoint=endpoint, public_key=public_key, secret=secret, name=name, now=now)
    return ABrowser(key, row)


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
