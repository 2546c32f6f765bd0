"""The guard of every request to an address that is not the operator's own; `open_hosts` defines what is open.

The IP address is checked when it is connected to, so spelling, redirects and DNS rebinding do not matter.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache as cached
from functools import partial
from ssl import SSLContext, create_default_context

import certifi
from ada_url import URL
from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from django.core.cache import cache
from redis import RedisError

from apps.retrieval.algorithms.open_hosts import Entry, OpenHosts
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, BadAddress, resolve

logger = logging.getLogger(__name__)

RESOLVING_THREADS = 32  # a dead name server holds a thread for many seconds
LEASE_SECONDS = 30.0  # after the latest renewal
REMEMBER_SECONDS = 1.0  # during which a process relies on a lease that it has read

_LOOPBACK = "127.0.0.1"


class RefusedAddress(OSError):
    """No connection was made. Raised with one text for all addresses: of several equal errors aiohttp keeps one."""


class Guard:
    """Decides what may be connected to: the public internet, what `open_hosts` opens, and what holds a lease."""

    def __init__(self, open_hosts: Iterable[str | Entry] = ()) -> None:
        self._open_hosts = OpenHosts(open_hosts)

    def check(self, address: str) -> URL:
        """The URL to request for `address`, without its fragment.

        Raises BadAddress if it is no http or https address, is too long, or has credentials, and RefusedAddress if
        its port is neither usual nor opened.
        """
        if len(address) > MAX_ADDRESS_LENGTH:
            raise BadAddress(f"The address is longer than {MAX_ADDRESS_LENGTH:,} characters.")
        url = resolve(address)
        if url is None or url.protocol not in {"http:", "https:"}:
            raise BadAddress(f"“{address[:200]}” is not an http or https address.")
        if url.username or url.password:
            raise BadAddress(
                "The address contains a username or password; feeds are shared by everyone, so leave it out."
            )
        if not self._open_hosts.may_have_port(url.hostname, port_of(url)) and not self.opens(url):
            raise RefusedAddress(f"Port {url.port} is not allowed for feeds.")
        url.hash = ""
        return url

    def opens(self, url: URL) -> bool:
        """Whether the name and port of a checked URL are open, wherever they lie."""
        host, port = url.hostname, port_of(url)
        return self._open_hosts.opens_name(host, port) or _is_leased(host, port)

    def is_refused_on_its_face(self, url: URL) -> bool:
        """Whether a checked URL can never be connected to, without resolving its name."""
        host = url.hostname.strip("[]")
        if ":" in host or host.replace(".", "").isdigit():  # WHATWG leaves no other ways to write an IP address
            return not self._open_hosts.may_connect(host, port_of(url))
        return is_loopback_name(host) and not (self.opens(url) or self._open_hosts.may_connect(_LOOPBACK, port_of(url)))

    def make_connector(self, resolver: AbstractResolver, *, anywhere: bool) -> TCPConnector:
        """A connector that opens a connection for each request and, unless `anywhere`, checks IP addresses."""
        return TCPConnector(
            resolver=resolver,
            ssl=_tls_context(),
            limit=0,  # `Connections` limits them: waiting here would count into the time-outs
            force_close=True,
            socket_factory=None if anywhere else partial(_checked_socket, self._open_hosts),
        )


def configured() -> Guard:
    """The guard that the settings describe."""
    return Guard(settings.RETRIEVAL_OPEN_HOSTS)


def port_of(url: URL) -> int:
    return int(url.port or {"https:": 443}.get(url.protocol, 80))


def _checked_socket(open_hosts: OpenHosts, info: AddrInfoType) -> socket.socket:
    """A socket for the IP address that is connected to, if that is allowed."""
    family, kind, protocol, _, address = info
    if not open_hosts.may_connect(str(address[0]), int(address[1])):
        raise RefusedAddress("The address is in a private or reserved network, which is not allowed.")
    return socket.socket(family, kind, protocol)


# --- leases -----------------------------------------------------------------------------------------------------------
_seen: dict[int, tuple[Entry, float]] = {}  # by port: the lease, and when it was read from the cache (monotonic, s)


def _is_leased(host: str, port: int) -> bool:
    """Whether a name is leased. Without the cache, the latest value holds as long as a lease."""
    if not is_loopback_name(host):
        return False
    entry, seen_at = _seen.get(port, (None, 0.0))
    now = time.monotonic()
    if entry is None or now > seen_at + REMEMBER_SECONDS:
        try:
            text = cache.get(lease_key(port))
            entry, seen_at = Entry.parse(text) if text else None, now
        except RedisError:
            entry = entry if now < seen_at + LEASE_SECONDS else None
        if entry is None:
            _seen.pop(port, None)  # misses are not cached, since a lease may begin at any moment
            return False
        _seen[port] = entry, seen_at
    return entry.port == port and entry.names(host.removesuffix("."))


def lease_key(port: int) -> str:
    return f"open-port:{port}"


@cached
def _tls_context() -> SSLContext:
    """Trusts the certificates of this machine, which may have none, and those of Mozilla."""
    context = create_default_context()
    context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class Resolver(AbstractResolver):
    """Resolves names by the system in separate threads, since slow lookups would exhaust the loop's default threads.

    Names below `localhost` are loopback by definition (RFC 6761), though many systems do not resolve them.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVING_THREADS, thread_name_prefix="resolve")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if is_loopback_name(host):
            return [_result(host, _LOOPBACK, port, socket.AF_INET)]
        infos = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host, port, family)
        return [_result(host, str(address[0]), port, found) for found, _, _, _, address in infos]

    async def close(self) -> None:
        """Release the threads; those that still wait for a response end on their own."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_loopback_name(host: str) -> bool:
    return f".{host.rstrip('.')}".endswith(".localhost")


def _look_up(host: str, port: int, family: socket.AddressFamily) -> list[AddrInfoType]:
    return [*socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)]


def _result(host: str, address: str, port: int, family: int) -> ResolveResult:
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
