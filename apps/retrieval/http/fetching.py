"""HTTP requests: conditional, rate-limited by host, limited in time and size, and guarded."""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from typing import Self
from urllib.parse import urlencode

import aiohttp
from ada_url import URL as ParsedURL
from yarl import URL

from apps.retrieval.algorithms.open_hosts import Entry
from apps.retrieval.algorithms.robots import AGENT
from apps.retrieval.http import guard
from apps.retrieval.http.connections import SHARES, Connections, Limits, Preempted
from apps.retrieval.http.decoding import ACCEPTED, Decoder, TooLarge, Undecodable
from apps.retrieval.http.headers import headers_of, sendable
from apps.retrieval.http.rate_limiter import HostBusy, HostRateLimiter
from apps.sources.algorithms.addresses import BadAddress, resolve

logger = logging.getLogger(__name__)

BODY_LIMIT = 10 * 2**20  # bytes, decoded
MAX_REDIRECTS = 5
MAX_HEADER_LINE_BYTES = 16 * 1024  # bytes
MAX_HEADERS = 128
FEEDS_FIRST = (
    "application/rss+xml, application/atom+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, text/html;q=0.5, */*;q=0.1"
)
_FOLLOWED = frozenset({301, 302, 303, 307, 308})
_FORM_FOLLOWED = frozenset({307, 308})  # others would turn it into a GET
_PERMANENT = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of a response: the server's bytes decoded as Latin-1, and otherwise opaque."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    url: str
    validators: Validators = Validators()
    subscribers: int = 0
    body_limit: int = BODY_LIMIT
    accept: str = FEEDS_FIRST
    form: Mapping[str, str] | None = None  # to be posted; may hold a secret
    message: bytes | None = None  # to be posted unchanged, to this address alone: no redirect is followed
    headers: Mapping[str, str] = field(default_factory=dict)  # of the message, in addition to our own
    first: bool = False  # of a source that was never retrieved: these have their own share of connections
    low_priority: bool = False  # other requests to its host come first

    @property
    def posted(self) -> bytes | None:
        return self.message if self.form is None else urlencode(self.form).encode()

    @property
    def followed(self) -> frozenset[int]:
        """The statuses of redirects that are followed."""
        if self.message is not None:
            return frozenset()
        return _FOLLOWED if self.form is None else _FORM_FOLLOWED


@dataclass(frozen=True, slots=True)
class Hop:
    status: int
    url: str  # where it led


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no usable response.

    The kinds: bad_address, refused_address, host_busy (no request was sent; retry later), dns, connection, tls,
    timeout, too_large, too_many_redirects, decoding, protocol.
    """

    kind: str
    message: str  # a sentence for display
    retry_after: float | None = None  # s, of host_busy, unless a redirect was followed before


@dataclass(frozen=True, slots=True)
class Fetched:
    url: str  # the last address requested
    received_at: datetime
    status: int = 0  # of the last response; 0 without one
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case, Latin-1, repeated ones joined
    body: bytes = b""  # decoded; only read if the status is 2xx
    permanent_url: str = ""  # the target if all redirects were permanent
    redirects: tuple[Hop, ...] = ()
    elapsed: float = 0.0  # s, without the wait for the host
    wire_bytes: int = 0  # of the body
    failure: Failure | None = None
    begun_at: datetime | None = None  # when the first request was sent; None if none was


@dataclass(frozen=True, slots=True)
class Timeouts:
    total: float = 30.0  # s for all redirects together
    connect: float = 10.0  # s, from the name to the end of the TLS handshake
    read: float = 15.0  # s without a byte


class Fetcher:
    """Fetches addresses concurrently, rate-limited by host. One per event loop; `async with` opens and closes it."""

    def __init__(
        self,
        *,
        version: str,
        about: str,
        open_hosts: Collection[str | Entry],
        clock: Callable[[], datetime],
        host_gap: float = 1.0,
        longest_wait: float = 60.0,
        connections: Limits = SHARES,
        timeouts: Timeouts = Timeouts(),
    ) -> None:
        """The user agent is this version of Wirebeat, with the address `about`.

        `open_hosts` are entries of `algorithms.open_hosts`. There are `host_gap` seconds between two requests to a
        host; a request that would wait longer than `longest_wait` seconds fails with host_busy.
        """
        self._agent = f"{AGENT}/{version} (+{about}"
        self._guard = guard.Guard(open_hosts)
        self._clock = clock
        self._timeouts = timeouts
        self._rate_limiter = HostRateLimiter(gap=host_gap, longest_wait=longest_wait)
        self._connections = Connections(connections)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}  # by whether the host may lie anywhere
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        resolver = guard.Resolver()
        self._closing.push_async_callback(resolver.close)
        for anywhere in (False, True):
            connector = self._guard.make_connector(resolver, anywhere=anywhere)
            self._sessions[anywhere] = await self._closing.enter_async_context(self._make_session(connector))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    @property
    def waiting(self) -> int:
        """Requests that wait for a connection."""
        return self._connections.waiting

    async def fetch(self, request: FetchRequest) -> Fetched:
        """Fetch an address and follow its redirects. Nothing is raised: the result has the failure."""
        try:
            target = self._guard.check(request.url)
        except (BadAddress, guard.RefusedAddress) as error:
            return Fetched(url=request.url, received_at=self._clock(), failure=_failure(error, self._timeouts))
        exchange = _Exchange(request, target)
        failure = None
        try:
            while not exchange.arrived:
                await self._request_host(exchange)
        except Exception as error:
            failure = _failure(error, self._timeouts)
            if exchange.has_response:  # then the retrieval counts and is not deferred
                failure = replace(failure, retry_after=None)
        return exchange.result(self._clock(), failure)

    async def _request_host(self, exchange: "_Exchange") -> None:
        """Follow redirects within one host, without the gap between two requests."""
        host = exchange.target.hostname
        turn = self._rate_limiter.take(host, low_priority=exchange.request.low_priority)
        async with turn, self._connections.take(first=exchange.request.first):
            exchange.begun_at = exchange.begun_at or self._clock()
            while not exchange.arrived and exchange.target.hostname == host:
                began = perf_counter()
                try:
                    async with asyncio.timeout(self._timeouts.total - exchange.elapsed):
                        await self._request(exchange)
                finally:
                    exchange.elapsed += perf_counter() - began

    async def _request(self, exchange: "_Exchange") -> None:
        address = _as_aiohttp_reads(exchange.target)
        headers = self._headers_for(exchange.request)
        session = self._sessions[self._guard.opens(exchange.target)]
        posted = exchange.request.posted
        method = "GET" if posted is None else "POST"
        async with session.request(method, address, headers=headers, data=posted, allow_redirects=False) as response:
            if response.status in exchange.request.followed:
                location = _location(response, exchange.target)
                exchange.follow(response.status, self._guard.check(location))
            else:
                await exchange.arrive(response)

    def _make_session(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=self._timeouts.connect, sock_read=self._timeouts.read),
            max_line_size=MAX_HEADER_LINE_BYTES,
            max_field_size=MAX_HEADER_LINE_BYTES,
            max_headers=MAX_HEADERS,
        )

    def _headers_for(self, request: FetchRequest) -> dict[str, str]:
        readers = f"; {request.subscribers} subscribers" if request.subscribers else ""
        agent = f"{self._agent}{readers})"
        headers = {"User-Agent": agent, "Accept": request.accept, "Accept-Encoding": ACCEPTED}
        if request.form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        headers |= request.headers
        # Sent with every redirect, too: they are from the end of the redirects of the latest request.
        if etag := sendable(request.validators.etag):
            headers |= {"If-None-Match": etag, "A-IM": "feed"}  # RFC 3229: new entries alone suffice
        if last_modified := sendable(request.validators.last_modified):
            headers["If-Modified-Since"] = last_modified
        return headers


class Unusable(Exception):
    """An unusable response; `kind` is the failure's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Exchange:
    """The progress of one fetch."""

    def __init__(self, request: FetchRequest, target: ParsedURL) -> None:
        self.request = request
        self.target = target
        self.arrived = False
        self.elapsed = 0.0  # s
        self.begun_at: datetime | None = None
        self._requested = {target.href}
        self._redirects: list[Hop] = []
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body = b""
        self._wire_bytes = 0

    @property
    def has_response(self) -> bool:
        return bool(self._redirects) or self.arrived

    def follow(self, status: int, url: ParsedURL) -> None:
        """Follow a redirect; raises Unusable in a circle, after too many, or if a form would leave https."""
        if self.request.form is not None and self.target.protocol == "https:" != url.protocol:
            raise Unusable("protocol", "The address redirects from https to http, where others could read the request.")
        if len(self._redirects) == MAX_REDIRECTS:
            raise Unusable("too_many_redirects", f"The address redirects more than {MAX_REDIRECTS} times.")
        if url.href in self._requested:
            raise Unusable("too_many_redirects", "The address redirects in a circle.")
        self._requested.add(url.href)
        self._redirects.append(Hop(status, url.href))
        self.target = url

    async def arrive(self, response: aiohttp.ClientResponse) -> None:
        """Store a response that is no redirect, with its body if the status is 2xx.

        Raises TooLarge, also if the encoded body exceeds the limit, and Undecodable.
        """
        self.arrived = True
        self._status, self._headers = response.status, headers_of(response)
        if not 200 <= response.status < 300:
            return
        limit = self.request.body_limit
        if (response.content_length or 0) > limit:
            raise TooLarge(f"The response is larger than {limit:,} bytes.")
        decoder = Decoder(self._headers.get("content-encoding", ""), limit=limit)
        async for chunk in response.content.iter_any():
            self._wire_bytes += len(chunk)
            if self._wire_bytes > limit:
                raise TooLarge(f"The response is larger than {limit:,} bytes.")
            decoder.feed(chunk)
        self._body = decoder.finish()

    def result(self, received_at: datetime, failure: Failure | None) -> Fetched:
        # Refused after resolving the name, before a connection was made.
        is_refused = failure is not None and failure.kind == "refused_address" and not self._redirects
        has_moved = self.arrived and self._redirects and all(hop.status in _PERMANENT for hop in self._redirects)
        return Fetched(
            url=self.target.href,
            received_at=received_at,
            begun_at=None if is_refused else self.begun_at,
            status=self._status,
            headers=self._headers,
            body=self._body,
            permanent_url=self.target.href if has_moved else "",
            redirects=tuple(self._redirects),
            elapsed=self.elapsed,
            wire_bytes=self._wire_bytes,
            failure=failure,
        )


def _as_aiohttp_reads(url: ParsedURL) -> URL:
    """The same URL for aiohttp, whose parser differs; both must see the same host."""
    address = URL(url.href, encoded=True)
    if address.raw_host != url.hostname.strip("[]"):
        raise BadAddress(f"“{url.hostname}” is not a valid host.")
    return address


def _location(response: aiohttp.ClientResponse, base: ParsedURL) -> str:
    """The target of a redirect; its text is UTF-8 or, from old servers, Latin-1."""
    raw = next((value for name, value in response.raw_headers if name.lower() == b"location"), b"")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    url = resolve(text, base.href) if text else None
    if url is None:
        raise Unusable("protocol", f"The server redirected with status {response.status}, but without an address.")
    return str(url.href)


def _failure(error: Exception, timeouts: Timeouts) -> Failure:
    """The failure for an exception."""
    match error:
        case HostBusy(retry_after=seconds):
            return Failure("host_busy", f"Other feeds on the same host come first, for about {seconds:.0f} s.", seconds)
        case BadAddress():
            return Failure("bad_address", str(error))
        case guard.RefusedAddress():
            return Failure("refused_address", str(error))
        case aiohttp.ClientConnectorError(os_error=guard.RefusedAddress() as refusal):
            return Failure("refused_address", str(refusal))
        case Unusable(kind=kind):
            return Failure(kind, str(error))
        case TooLarge():
            return Failure("too_large", str(error))
        case Undecodable():
            return Failure("decoding", str(error))
        case aiohttp.ConnectionTimeoutError():
            return Failure("timeout", f"The server accepted no connection within {timeouts.connect:g} s.")
        case Preempted():
            return Failure("timeout", "The server was slow while many others were slow, too.")
        case aiohttp.SocketTimeoutError():
            return Failure("timeout", f"The server sent nothing for {timeouts.read:g} s.")
        case TimeoutError():
            return Failure("timeout", f"The response was not complete after {timeouts.total:g} s.")
    return _network_failure(error)


def _network_failure(error: Exception) -> Failure:
    match error:
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return Failure("dns", "The server's name is not known.")
        case aiohttp.ClientConnectorCertificateError(certificate_error=cause):
            return Failure("tls", f"The server's certificate is not trusted: {_words(cause)}.")
        case aiohttp.ClientConnectorSSLError(os_error=cause):
            return Failure("tls", f"No secure connection to the server: {_words(cause)}.")
        case aiohttp.ServerDisconnectedError():
            return Failure("connection", "The server closed the connection without a response.")
        case aiohttp.ClientOSError() | OSError():
            return Failure("connection", f"The connection to the server failed: {_words(error)}.")
        case aiohttp.ClientPayloadError():
            return Failure("protocol", "The response is incomplete.")
        case aiohttp.ClientResponseError(message=message):
            return Failure("protocol", f"The response is not valid HTTP: {message.strip()[:200]}.")
    logger.error("unexpected failure of a fetch", exc_info=error)
    return Failure("protocol", f"The response could not be read: {type(error).__name__}.")


def _words(error: BaseException) -> str:
    """The short text inside an error of OpenSSL or of the system."""
    if text := getattr(error, "verify_message", "") or getattr(error, "reason", ""):
        return str(text)
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
