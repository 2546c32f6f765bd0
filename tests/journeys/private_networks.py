"""Addresses that no request may reach, and how a test notices that one was tried."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

ROOT = Path(__file__).parents[2]

LITERALS = (
    "127.0.0.1", "127.1", "127.255.255.254", "0.0.0.0", "[::1]", "[::]",  # loopback
    "0177.0.0.1", "017700000001", "2130706433", "0x7f.1", "0x7f000001", "0x7F.0x0.0x0.0x1",  # octal, decimal, hex
    "10.0.0.1", "172.16.0.1", "192.168.0.1", "[fd00::1]", "[fec0::1]",  # private
    "169.254.169.254", "[fe80::1]", "0xa9fea9fe",  # link-local
    "100.64.0.1",  # networks of providers (CGNAT)
    "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]",  # IPv4-mapped, IPv4-compatible
    "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]",  # NAT64, 6to4, Teredo
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "s1.replay.localhost", "127.0.0.1.",
    "127。0。0。1", "１２７.0.0.1", "%31%32%37.0.0.1",
)  # fmt: skip
NAMES = {
    "loopback.example": ["127.0.0.1"],
    "loopback6.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "private.example": ["10.0.0.1"],
    "carrier.example": ["100.64.0.1"],
    "metadata.example": ["169.254.169.254"],
    "nat64.example": ["64:ff9b::7f00:1"],
    "sixtofour.example": ["2002:7f00:1::1"],
    "scoped.example": ["fe80::1%1"],
    "several.example": ["10.0.0.1", "127.0.0.1"],
}
REBOUND = "rebound.example"  # public when it is looked up first, and this machine ever after
PUBLIC = "93.184.215.14"
# Invalid addresses: zone ids, ports that cannot be, and hosts behind a user name.
MALFORMED = (
    "http://[fe80::1%25lo]:{port}/", "http://[::1%lo]:{port}/", "http://127.0.0.1:{port}:80/",
    "http://127.0.0.1:{port}@127.0.0.1/", "http://public.example:80@127.0.0.1:{port}/", "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/", "file://127.0.0.1:{port}/etc/passwd", "http://127.0.0.1:6{port}5/",
)  # fmt: skip
REFUSED = (
    *(f"http://{host}:{{port}}/" for host in (*LITERALS, *NAMES, REBOUND)),
    "http://127.0.0.1:0{port}/", "http:\\\\127.0.0.1:{port}\\", "http://127.0.0.1:{port}#@public.example/",
    "http://127.0.0.1:{port}?public.example",
)  # fmt: skip


# --- the two ports ----------------------------------------------------------------------------------------------------
class Listener:
    """Takes connections at all addresses of this machine and counts them; `closed` is a port where nothing listens."""

    def __init__(self) -> None:
        self.taken = 0
        self._open = _bound(0)
        self._open.listen()
        self._closed = _bound(0)  # bound, so that no other process gets it, and never listened on
        self.open, self.closed = self._open.getsockname()[1], self._closed.getsockname()[1]
        Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                connection, _ = self._open.accept()
            except OSError:
                return
            self.taken += 1
            connection.close()

    def close(self) -> None:
        self._open.shutdown(socket.SHUT_RDWR)
        self._open.close()
        self._closed.close()


def _bound(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        both = socket.socket(socket.AF_INET6)
        both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        both.bind(("::", port))
        return both
    only = socket.socket()
    only.bind(("0.0.0.0", port))
    return only


# --- audit events of connections -------------------------------------------------------------------------------------
class Watch:
    """The addresses that were connected to, except servers of the test."""

    def __init__(self) -> None:
        self.connects: list[Any] = []
        self.own_ports: set[int] = set()

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in {"socket.connect", "socket.sendto"}:
            return
        connection, address = arguments
        is_internet = connection.family in {socket.AF_INET, socket.AF_INET6}
        if is_internet and address[1] not in self.own_ports:
            self.connects.append(address)


_watching: list[Watch] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watching:
        watch.note(event, arguments)


@contextmanager
def watching() -> Iterator[Watch]:
    if not getattr(_hook, "is_installed", False):  # it cannot be removed
        sys.addaudithook(_hook)
        _hook.is_installed = True  # type: ignore[attr-defined]
    watch = Watch()
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.remove(watch)


# --- names ------------------------------------------------------------------------------------------------------------
def name_server() -> Callable[..., list[Any]]:
    """`socket.getaddrinfo` for a world in which the names above stand for their addresses."""
    system, looked_up = socket.getaddrinfo, set()

    def look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> list[Any]:
        name = str(host).rstrip(".")
        if name == REBOUND:
            found = ["127.0.0.1"] if name in looked_up else [PUBLIC]
            looked_up.add(name)
        elif name in NAMES:
            found = NAMES[name]
        else:
            return system(host, port, *arguments, **options)
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in found
        ]

    return look_up


# --- installations ----------------------------------------------------------------------------------------------------
_CONCERNED = (
    "RETRIEVAL_OPEN_HOSTS", "PROJECT_URL", "BEHIND_TLS", "SECURE_SSL_REDIRECT",
    "SECURE_PROXY_SSL_HEADER", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS",
)  # fmt: skip


def settings_of(installation: str, folder: Path) -> dict[str, Any]:
    """The settings under the environment of `deploy/`, or of `manage.py up`, which sets nothing that matters here."""
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "WIREBEAT_VAR": str(folder)}
    if installation == "deploy":
        lines = (ROOT / "deploy" / "environment.example").read_text(encoding="utf-8").splitlines()
        given = dict(line.split("=", 1) for line in lines if not line.startswith("#")) | given
        (folder / "secret_key").write_text("k" * 50)
        given["WIREBEAT_SECRET_KEY_FILE"] = str(folder / "secret_key")
    code = f"import json, portal.settings as s; print(json.dumps({{n: getattr(s, n) for n in {_CONCERNED!r}}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=given, capture_output=True, text=True, check=True)
    values: dict[str, Any] = json.loads(done.stdout)
    return values
