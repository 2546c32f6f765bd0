"""What may be connected to: only the public internet, except for names that the operator has opened.

An address is checked as it is connected to, so it does not matter how it was written, what a redirect said, or what
the name stood for a moment ago.
"""

import asyncio
import socket
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from ssl import SSLContext, create_default_context

import certifi
from ada_url import URL
from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from apps.retrieval.algorithms.address_ranges import is_public
from apps.sources.algorithms.addresses import LONGEST_ADDRESS, BadAddress, resolve

RESOLVING_THREADS = 32  # a dead name server holds a thread for many seconds

# The ports that browsers block (WHATWG Fetch), and those of databases and control planes: none of them talks HTTP for
# everybody, and some would take a request for commands.
_BLOCKED_PORTS = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    445, 873, 1433, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379, 6380, 7000,
    7001, 9042, 9092, 9200, 9300, 10250, 11211, 26379, 27017, 27018, 50000,
})  # fmt: skip


class RefusedAddress(OSError):
    """Nothing was connected to. Raised with one text for all addresses: of several equal errors aiohttp keeps one."""


def check(address: str, open_hosts: Collection[str]) -> URL:
    """The URL to ask at `address`, without its fragment.

    Raises
    ------
    BadAddress
        If it is no http or https address, is too long, or holds a user name or password.
    RefusedAddress
        If its port is none that news is served on. Open hosts may use any.
    """
    if len(address) > LONGEST_ADDRESS:
        raise BadAddress(f"The address is longer than {LONGEST_ADDRESS:,} characters.")
    url = resolve(address)
    if url is None or url.protocol not in {"http:", "https:"}:
        raise BadAddress(f"“{address[:200]}” is no http or https address.")
    if url.username or url.password:
        raise BadAddress("The address holds a user name or password; sources are shared by all, so leave them out.")
    if url.port and int(url.port) in _BLOCKED_PORTS and not is_open(url.hostname, open_hosts):
        raise RefusedAddress(f"Port {url.port} is none that news is served on.")
    url.hash = ""
    return url


def is_open(host: str, open_hosts: Collection[str]) -> bool:
    """Whether a host is among the open ones, which are names or, with a leading dot, all names below one.

    >>> is_open("s1.replay.localhost", [".replay.localhost"]), is_open("replay.localhost", [".replay.localhost"])
    (True, False)
    """
    bare = host.strip("[]")  # of IPv6
    return any(bare.endswith(name) if name.startswith(".") else bare == name.strip("[]") for name in open_hosts)


def make_connector(resolver: AbstractResolver, *, guarded: bool) -> TCPConnector:
    """Connects anew for each request, verifies certificates and, if guarded, refuses addresses that are not public."""
    return TCPConnector(
        resolver=resolver,
        ssl=_tls_context(),
        limit=0,  # who may connect is decided before: waiting here would count into the time-outs
        force_close=True,
        socket_factory=_public_socket if guarded else None,
    )


def _public_socket(info: AddrInfoType) -> socket.socket:
    """A socket for an address found, if it is a public one."""
    family, kind, protocol, _, address = info
    if not is_public(str(address[0])):
        raise RefusedAddress("The address lies in a private or reserved network, where sources may not be.")
    return socket.socket(family, kind, protocol)


@cache
def _tls_context() -> SSLContext:
    """Trusts what this machine trusts and what Mozilla does: some machines have no certificates at all."""
    context = create_default_context()
    context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class Resolver(AbstractResolver):
    """Asks the system for the addresses of names, in threads of its own: the loop's few would soon all be waiting.

    Names below `localhost` are this machine's by definition (RFC 6761), though many systems do not know them.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVING_THREADS, thread_name_prefix="resolve")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if f".{host.rstrip('.')}".endswith(".localhost"):
            return [_result(host, "127.0.0.1", port, socket.AF_INET)]
        infos = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host, port, family)
        return [_result(host, str(address[0]), port, found) for found, _, _, _, address in infos]

    async def close(self) -> None:
        """Give the threads up; those that still wait for an answer end on their own."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int, family: socket.AddressFamily) -> list[AddrInfoType]:
    return [*socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)]


def _result(host: str, address: str, port: int, family: int) -> ResolveResult:
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
